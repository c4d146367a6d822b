#include "core/decide/plan_start.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Times far beyond any plan, so that sums with them stay representable.
constexpr double kLongest_s = 1e9;

Timestamp after(Timestamp from, double duration_s)
{
    return from + std::chrono::duration_cast<Timestamp::duration>(Seconds(std::clamp(duration_s, 0.0, kLongest_s)));
}

double seconds_between(Timestamp from, Timestamp to)
{
    return Seconds(to - from).count();
}

double transfer_s(const NetworkProfile& network, Timestamp start, double size_bytes)
{
    return size_bytes > 0 ? network.transfer_s(start, size_bytes).value_or(0) : 0;
}

/// Both transfers with the run between them, begun at `start`.
StartPlan plan_from(const TransferRequest& request, const NetworkProfile* network, Timestamp start, const RunTime& run)
{
    StartPlan plan;
    plan.start_s = seconds_between(request.now, start);
    plan.occupied = run;
    if (request.moves_data()) plan.is_network_unknown = network == nullptr;
    if (request.moves_data() && network != nullptr) {
        const RateAtTime rate = network->at(start);
        plan.rate_bytes = rate.rate_bytes;
        plan.basis = rate.basis;
        plan.in_s = transfer_s(*network, start, request.in_bytes);
        plan.out_s = transfer_s(*network, after(start, plan.in_s + run.run_s), request.out_bytes);
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

} // namespace

StartPlan plan_at_once(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run)
{
    StartPlan plan = plan_from(request, network, after(request.now, wait_s), run);
    plan.start_s = wait_s; // not what is left of it after rounding to a time
    plan.completion_s = wait_s + plan.occupied.run_s;
    return plan;
}

StartPlan plan_start(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run)
{
    const StartPlan at_once = plan_at_once(request, network, wait_s, run);
    const bool may_wait = request.network == NetworkChoice::kAuto && request.deadline.has_value();
    if (!may_wait || network == nullptr || !request.moves_data()) return at_once;
    if (is_as_good_as_ever(request, *network, at_once)) return at_once;

    const Timestamp earliest = after(request.now, wait_s);
    const auto cost = [&](Timestamp start) -> std::optional<double> {
        const StartPlan plan = plan_from(request, network, start, run);
        const Timestamp latest_end = after(request.now, plan.start_s + plan.occupied.high_s);
        const bool is_possible = start == earliest || latest_end <= *request.deadline;
        return is_possible ? both_transfers_s(plan) : HUGE_VAL;
    };
    const std::optional<Timestamp> start = best_start(network->calendar(), earliest, *request.deadline, cost);
    if (!start || *start == earliest) return at_once;
    StartPlan plan = plan_from(request, network, *start, run);
    plan.window = WindowWait{*start, at_once.rate_bytes, plan.rate_bytes, both_transfers_s(at_once)};
    return plan;
}

} // namespace fathom
