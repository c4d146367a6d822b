#include "core/decide/capacity/least_objective.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/capacity/objective.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace fathom {
namespace {

constexpr double kPricedHour_s = 3600;
constexpr double kPricedWeek_s = 168 * kPricedHour_s;
/// Of shorter runs, and of earlier ends, only the cheapest hour counts.
constexpr double kMinDelayable_s = 1;
/// By which a start may be off that is meant to be at a full hour.
constexpr double kOff_s = 1e-6;
/// By how much a bound is less, for what differs by a rounding only.
constexpr double kRounded = 1 - 1e-6;

/// Between two starts at which the run begins or ends with an hour its cost changes evenly with the start, and its
/// completion does. The logarithm of the objective, a weighted sum of logarithms of these, is concave in between, so it
/// is least at one of the two: no other starts need be looked at.
class StartsByHour {
  public:
    /// All must outlive it.
    /// @param floor  objective of a start at `earliest` at the least cost of any.
    StartsByHour(const Preference& prefer, const UnitPrice& price, const DelayableRun& run, double floor, double limit)
        : prefer_(&prefer), price_(&price), run_(&run), floor_(floor), best_(limit),
          slack_(price.most_per_hour() / kPricedHour_s * kOff_s * static_cast<double>(run.unit_count)),
          completion_before_s_(run.completion_s)
    {
    }

    double least()
    {
        set_until();
        look_at(0);
        look_at(run_->free_of_charge_s); // from where on the completion grows
        const Timestamp first = std::chrono::ceil<std::chrono::hours>(run_->earliest);
        const double first_s = Seconds(first - run_->earliest).count();
        const double ends_off_s = std::fmod(run_->run_s, kPricedHour_s);
        for (double hour_s = first_s; hour_s <= first_s + kPricedWeek_s; hour_s += kPricedHour_s) {
            if (hour_s >= ends_off_s) look_at(hour_s - ends_off_s);
            look_at(hour_s);
            if (!(completion_before_s_ < until_s_)) break;
        }
        return best_;
    }

  private:
    /// The completion from which on no cost is low enough to be better than the best.
    void set_until() { until_s_ = run_->completion_s * portable::pow(best_ / floor_, 1 / prefer_->time); }

    double completion_after_s(double delay_s) const
    {
        return run_->completion_s + run_->growth * std::max(delay_s - run_->free_of_charge_s, 0.0);
    }

    /// In order of time, but for a start that ends no later than any.
    void look_at(double delay_s)
    {
        const double completion_s = completion_after_s(delay_s);
        const double cost = price_->cost_after(run_->earliest, delay_s, run_->run_s, run_->unit_count) - slack_;
        if (cost < least_cost_) {
            least_cost_ = cost;
            // What is as good as free was so before, perhaps.
            const double counted_s = cost < kMinCost ? completion_before_s_ : completion_s;
            const double weighed = kRounded * objective(*prefer_, {counted_s, cost, run_->energy_j});
            if (weighed < best_) {
                best_ = weighed;
                set_until();
            }
        }
        completion_before_s_ = completion_s;
    }

    const Preference* prefer_;
    const UnitPrice* price_;
    const DelayableRun* run_;
    double floor_;
    double best_;
    double slack_;
    double completion_before_s_; ///< of the start before
    double least_cost_ = HUGE_VAL;
    double until_s_ = HUGE_VAL;
};

} // namespace

double least_objective(const Preference& prefer, const UnitPrice& price, const DelayableRun& run, double limit)
{
    const double floor =
        kRounded * objective(prefer, {run.completion_s, price.least_cost(run.run_s, run.unit_count), run.energy_j});
    const bool hangs_on_hours = prefer.cost > 0 && prefer.time > 0 && !price.is_flat() && run.growth > 0 &&
                                run.run_s >= kMinDelayable_s && run.completion_s >= kMinDelayable_s;
    if (!hangs_on_hours || floor >= limit) return std::min(floor, limit);
    return std::max(floor, StartsByHour(prefer, price, run, floor, limit).least());
}

} // namespace fathom
