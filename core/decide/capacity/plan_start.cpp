#include "core/decide/capacity/plan_start.hpp"

#include "core/base/clock.hpp"
#include "core/decide/capacity/network_window.hpp"
#include "core/decide/capacity/objective.hpp"
#include "core/decide/prediction/predict_units.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace fathom {
namespace {

/// Times far beyond any plan, so that sums with them stay representable.
constexpr double kMaxDuration_s = 1e9;

double transfer_s(const NetworkProfile& network, Timestamp start, double size_bytes)
{
    return size_bytes > 0 ? network.transfer_s(start, size_bytes).value_or(0) : 0;
}

/// Both transfers with the run between them, begun at `start`.
StartPlan plan_from(const TransferRequest& request, const NetworkProfile* network, Timestamp start, const RunTime& run)
{
    StartPlan plan;
    plan.start_s = Seconds(start - request.now).count();
    plan.occupied = run;
    if (request.moves_data()) plan.is_network_unknown = network == nullptr;
    if (request.moves_data() && network != nullptr) {
        const RateAtTime rate = network->at(start);
        plan.rate_bytes = rate.rate_bytes;
        plan.basis = rate.basis;
        plan.in_s = transfer_s(*network, start, request.in_bytes);
        plan.out_s = transfer_s(*network, moment_after(start, plan.in_s + run.run_s), request.out_bytes);
        const double both_s = plan.in_s + plan.out_s;
        plan.occupied.run_s += both_s;
        plan.occupied.low_s += both_s / (1 + rate.spread);
        plan.occupied.high_s += both_s * (1 + rate.spread);
    }
    plan.completion_s = plan.start_s + plan.occupied.run_s;
    return plan;
}

double both_transfers_s(const StartPlan& plan)
{
    return plan.in_s + plan.out_s;
}

/// True when no hour could make the transfers so much faster that waiting would be worth it.
bool is_as_good_as_ever(const TransferRequest& request, const NetworkProfile& network, const StartPlan& plan)
{
    const double least_s = (request.in_bytes + request.out_bytes) / network.best_rate_bytes();
    return both_transfers_s(plan) <= least_s * 1.01;
}

bool may_wait(const TransferRequest& request)
{
    return request.network == NetworkChoice::kAuto && request.deadline.has_value();
}

double cost_of(const TransferRequest& request, const StartTerms& terms, const StartPlan& plan)
{
    if (terms.price == nullptr) return 0;
    return terms.price->cost(moment_after(request.now, plan.start_s), plan.occupied.run_s, terms.unit_count);
}

double energy_of(const StartTerms& terms, const StartPlan& plan)
{
    return terms.price == nullptr ? 0 : terms.price->energy_j(plan.occupied.run_s, terms.unit_count);
}

/// Whether a start after the first keeps deadline and budget, and finds its units free.
bool is_possible(const TransferRequest& request, const StartTerms& terms, const StartPlan& plan)
{
    if (moment_after(request.now, plan.start_s + plan.occupied.high_s) > *request.deadline) return false;
    if (terms.budget && cost_of(request, terms, plan) > budget_limit(terms.budget)) return false;
    return terms.availability == nullptr ||
           terms.availability->earliest_start(terms.unit_count, plan.occupied.high_s, plan.start_s) == plan.start_s;
}

/// What a start after the first may be better for.
struct StartAim {
    bool has_windows{};  ///< the network differs by the hour
    bool is_for_price{}; ///< the hour is weighed by objective(), not by the time of transfers alone
    bool is_too_dear{};  ///< the first start is beyond the budget
};

/// A run that is to start. Refers to its parts.
struct RunToStart {
    const TransferRequest& request;
    const NetworkProfile* network;
    const RunTime& run;
    const StartTerms& terms;
};

/// Judges the starts of one run, in order of time.
class StartJudge {
  public:
    /// All must outlive it.
    /// @param at_once  the start at `earliest`.
    StartJudge(const RunToStart& job, const StartPlan& at_once, Timestamp earliest, StartAim aim)
        : job_(job), at_once_(at_once), earliest_(earliest), aim_(aim), least_run_s_(job.run.run_s)
    {
        if (aim.has_windows)
            least_run_s_ += (job.request.in_bytes + job.request.out_bytes) / job.network->best_rate_bytes();
    }

    /// Less is better; infinite where the start is not possible, or no better than one before.
    double value(Timestamp start)
    {
        const bool is_first = start == earliest_;
        if (is_dearer(start)) return HUGE_VAL;
        const StartPlan plan = is_first ? at_once_ : plan_from(job_.request, job_.network, start, job_.run);
        return aim_.is_for_price ? weighed(plan, is_first) : transfers_s(plan, is_first);
    }

  private:
    /// Most starts are not possible or no better than one before. The latter is asked first: it takes less time.
    double transfers_s(const StartPlan& plan, bool is_first)
    {
        const double both_s = both_transfers_s(plan);
        if (both_s > least_transfers_s_ * kAsGoodCost) return HUGE_VAL; // best_start() would not take it
        if (!is_first && !is_possible(job_.request, job_.terms, plan)) return HUGE_VAL;
        least_transfers_s_ = std::min(least_transfers_s_, both_s);
        return both_s;
    }

    double weighed(const StartPlan& plan, bool is_first)
    {
        if (is_first && aim_.is_too_dear) return HUGE_VAL;
        const double cost = cost_of(job_.request, job_.terms, plan);
        if (cost >= least_cost_ && plan.occupied.run_s >= its_run_s_) return HUGE_VAL;
        if (!is_first && !is_possible(job_.request, job_.terms, plan)) return HUGE_VAL;
        if (cost < least_cost_) {
            least_cost_ = cost;
            its_run_s_ = plan.occupied.run_s;
        }
        return objective(job_.terms.prefer, {plan.completion_s, cost, energy_of(job_.terms, plan)});
    }

    /// No cheaper than one before, and later: most of them.
    bool is_dearer(Timestamp start) const
    {
        const StartTerms& terms = job_.terms;
        return aim_.is_for_price && terms.price != nullptr && terms.prefer.energy == 0 &&
               terms.price->cost(start, least_run_s_, terms.unit_count) >= least_cost_;
    }

    RunToStart job_;
    const StartPlan& at_once_;
    Timestamp earliest_;
    StartAim aim_;
    double least_run_s_;                  ///< with the fastest transfers
    double least_transfers_s_ = HUGE_VAL; ///< of the possible starts before
    double least_cost_ = HUGE_VAL;        ///< of the starts before
    double its_run_s_ = HUGE_VAL;         ///< how long the units are held then
};

} // namespace

Timestamp moment_after(Timestamp from, double duration_s)
{
    return from + std::chrono::duration_cast<Timestamp::duration>(Seconds(std::clamp(duration_s, 0.0, kMaxDuration_s)));
}

double budget_limit(std::optional<double> budget)
{
    constexpr double kRounding = 1e-9;
    return budget ? *budget * (1 + kRounding) : Availability::kForEver;
}

bool may_wait_for_price(const TransferRequest& request, const StartTerms& terms)
{
    const bool is_interested = terms.prefer.cost > 0 || terms.budget.has_value();
    return may_wait(request) && is_interested && terms.price != nullptr && !terms.price->is_flat();
}

StartPlan plan_at_once(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run)
{
    StartPlan plan = plan_from(request, network, moment_after(request.now, wait_s), run);
    plan.start_s = wait_s; // not what is left of it after rounding to a time
    plan.completion_s = wait_s + plan.occupied.run_s;
    return plan;
}

StartPlan plan_start(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run,
                     const StartTerms& terms)
{
    const StartPlan at_once = plan_at_once(request, network, wait_s, run);
    if (!may_wait(request)) return at_once;
    StartAim aim;
    aim.has_windows = network != nullptr && request.moves_data() && network->best_rate_bytes() > 0;
    aim.is_too_dear = cost_of(request, terms, at_once) > budget_limit(terms.budget);
    const bool is_weighed = may_wait_for_price(request, terms) && (terms.prefer.cost > 0 || aim.is_too_dear);
    aim.is_for_price = is_weighed || (aim.has_windows && terms.prefer.time < 1);
    if (!aim.is_for_price && (!aim.has_windows || is_as_good_as_ever(request, *network, at_once))) return at_once;

    const Timestamp earliest = moment_after(request.now, wait_s);
    StartJudge judge({request, network, run, terms}, at_once, earliest, aim);
    // Prices change by the hour: quarters of an hour would tell little more.
    NetworkCalendar calendar = aim.has_windows ? network->calendar() : NetworkCalendar{};
    if (aim.is_for_price) calendar.hour *= 4;
    const Timestamp latest = std::min<Timestamp>(*request.deadline, earliest + std::chrono::weeks(1));
    const std::optional<Timestamp> start =
        best_start(calendar, earliest, latest, [&judge](Timestamp one) { return judge.value(one); });
    if (!start || *start == earliest) return at_once;
    StartPlan plan = plan_from(request, network, *start, run);
    plan.window = WindowWait{.start = *start,
                             .rate_now_bytes = at_once.rate_bytes,
                             .rate_then_bytes = plan.rate_bytes,
                             .transfer_now_s = both_transfers_s(at_once),
                             .is_for_price = aim.is_for_price,
                             .cost_now = cost_of(request, terms, at_once),
                             .cost_then = cost_of(request, terms, plan)};
    return plan;
}

} // namespace fathom
