#include "core/base/portable_math.hpp"
#include "core/decide/routing/place.hpp"

#include <algorithm>

// What no start at a unit type can beat: lets PlaceChooser do without a search for the best hour.
namespace fathom {
namespace {

/// The completion beyond which an objective is more than `ratio` times that of `completion_s`, or a later one.
double most_completion_s(double completion_s, double ratio, const Preference& prefer)
{
    return std::max(completion_s, kMinHeld_s) * portable::pow(ratio, 1 / prefer.time); // perhaps infinite
}

/// What of a run's transfers no hour can make shorter.
double least_transfer_s(const TransferRequest& request, const NetworkProfile* network)
{
    if (network == nullptr || !request.moves_data() || !(network->best_rate_bytes() > 0)) return 0;
    return (request.in_bytes + request.out_bytes) / network->best_rate_bytes();
}

} // namespace

bool starts_by_the_hour(const UnitTypeView& view, double moved_bytes)
{
    return !(moved_bytes > 0) || view.network == nullptr ||
           view.network->calendar().hour == Timestamp::duration(std::chrono::hours(1));
}

double PlaceChooser::bound_of(const UnitTypeView& view, const Weighed& weighed, std::int64_t count,
                              std::optional<Timestamp> latest) const
{
    const TransferRequest& transfer = transfer_;
    const double run_s = least_run_s(weighed) + least_transfer_s(transfer, view.network.get());
    Outcome least{std::min(weighed.plan.start_s, weighed.start.wait_s) + run_s + weighed.least_trust_penalty_s(), 0, 0};
    if (view.price != nullptr) {
        const Timestamp earliest = moment_after(transfer.now, weighed.plan.start_s);
        least.cost = latest ? view.price->least_cost_between(earliest, std::max(earliest, *latest), run_s, count)
                            : view.price->least_cost(run_s, count);
        least.energy_j = view.price->energy_j(run_s, count);
        if (!latest && starts_by_the_hour(view, transfer.in_bytes + transfer.out_bytes) && request_->prefer.time > 0 &&
            !view.price->is_flat())
            return least_weighed(*view.price, least, earliest, run_s, count);
    }
    return objective(request_->prefer, least);
}

/// The least objective of a start at once or at a full hour, deadline or not: each later hour ends later, so only as
/// many are looked at as the cheapest run could make good for, and never more than a week of them, since then all
/// prices come again.
/// @param least  at once, and at the least cost of any hour.
double PlaceChooser::least_weighed(const UnitPrice& price, const Outcome& least, Timestamp earliest, double run_s,
                                   std::int64_t count) const
{
    const Preference& prefer = request_->prefer;
    const double floor = objective(prefer, least);
    Outcome at{least.completion_s, price.cost(earliest, run_s, count), least.energy_j};
    double best = objective(prefer, at);
    double until_s = most_completion_s(least.completion_s, best / floor, prefer);
    double least_cost = at.cost;
    const Timestamp first = std::chrono::ceil<std::chrono::hours>(earliest);
    for (Timestamp start = first; start < first + std::chrono::weeks(1); start += std::chrono::hours(1)) {
        at.completion_s = least.completion_s + Seconds(start - earliest).count();
        if (!(at.completion_s < until_s)) break;
        at.cost = price.cost(start, run_s, count);
        if (at.cost >= least_cost) continue;
        least_cost = at.cost;
        const double weighed = objective(prefer, at);
        if (weighed >= best) continue;
        best = weighed;
        until_s = most_completion_s(least.completion_s, best / floor, prefer);
    }
    constexpr double kRounding = 1e-9;
    return best * (1 - kRounding);
}

/// Whether no start can have an objective within the limit. A later start ends later, so the limit also bounds how late
/// a start may be; in the shorter time the cheapest hour may not lie, which raises the bound again.
bool PlaceChooser::is_beyond_limit(const UnitTypeView& view, const Weighed& weighed, std::int64_t count) const
{
    if (limit_ == Availability::kForEver) return false;
    const TransferRequest& transfer = transfer_;
    const double bound = bound_of(view, weighed, count, transfer.deadline);
    if (bound > limit_) return true;
    // Network windows of a job that wants nothing but an early end are waited for at no cost.
    if (!(request_->prefer.time > 0) || request_->prefer.time >= 1) return false;
    const double first_s = std::min(weighed.plan.start_s, weighed.start.wait_s);
    const double completion_s = first_s + least_run_s(weighed) + least_transfer_s(transfer, view.network.get()) +
                                weighed.least_trust_penalty_s();
    const double most_s = most_completion_s(completion_s, limit_ / bound, request_->prefer);
    const double latest_s = std::max(most_s - completion_s + first_s, weighed.plan.start_s) + 1;
    return bound_of(view, weighed, count, std::min(*transfer.deadline, moment_after(transfer.now, latest_s))) > limit_;
}

/// Whether an hour from which it could still keep the deadline might cost little enough.
bool PlaceChooser::may_become_cheap(const UnitTypeView& view, std::size_t index) const
{
    const TransferRequest& transfer = transfer_;
    const std::int64_t count = counts_[index].unit_count;
    if (!may_wait_for_price(transfer, {view.price.get(), count, request_->prefer, request_->budget, nullptr}))
        return false;
    const RunTime& compute = weighed_[index].compute;
    const double run_s = least_run_s(weighed_[index]) + least_transfer_s(transfer, view.network.get());
    const Timestamp earliest = moment_after(transfer.now, weighed_[index].plan.start_s);
    const Timestamp latest = std::max(earliest, moment_after(transfer.now, left_s_ - compute.high_s));
    return view.price->least_cost_between(earliest, latest, run_s, count) <= budget_;
}

/// For ChoiceAim::kBound: the least of each figure over all counts.
void PlaceChooser::settle_bounds(const UnitTypeView& view)
{
    const bool is_any_start = may_wait();
    choice_.unit_count = counts_.front().unit_count;
    choice_.least_objective = choice_.least_completion_s = choice_.least_cost = Availability::kForEver;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const CountChoice& one = counts_[i];
        const double shortest_s = least_run_s(weighed_[i]);
        const double least_cost =
            is_any_start && view.price != nullptr ? view.price->least_cost(shortest_s, one.unit_count) : one.cost;
        choice_.wait_s = std::min(choice_.wait_s, one.wait_s);
        choice_.least_objective = std::min(
            choice_.least_objective, is_any_start ? bound_of(view, weighed_[i], one.unit_count, {}) : one.objective);
        choice_.least_completion_s = std::min(choice_.least_completion_s, one.completion_s);
        choice_.least_cost = std::min(choice_.least_cost, least_cost);
    }
}

} // namespace fathom
