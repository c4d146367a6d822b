#include "server/simulations/simulations_service.hpp"

#include "simulator/live/live_export.hpp"
#include "simulator/what_if/comparison.hpp"
#include "simulator/workloads/workload_lines.hpp"

#include <boost/asio/steady_timer.hpp>

#include <sstream>

namespace fathom::server {
namespace {

constexpr double kDayS = 86400;

simulation::ExportSpan span_of(const SimulationOrder& order, Timestamp now)
{
    const auto age = std::chrono::duration_cast<Timestamp::duration>(Seconds(order.days * kDayS));
    simulation::ExportSpan span = simulation::span_since(now - age, now);
    span.max_jobs = static_cast<std::size_t>(order.max_jobs);
    return span;
}

/// What of the network is simulated, beside the figures.
Json period_json(const simulation::ExportSpan& span, const simulation::LiveExport& live)
{
    Json left_out = Json::array();
    for (const auto& [reason, count] : live.jobs.left_out)
        left_out.push_back({{"reason", reason}, {"job_count", count}});
    return {{"since", format_rfc3339(span.since)},
            {"until", format_rfc3339(span.now)},
            {"job_count", live.jobs.lines.size()},
            {"waiting_count", live.jobs.waiting},
            {"is_cut", live.is_cut},
            {"left_out", std::move(left_out)},
            {"notes", live.notes}};
}

struct BothNetworks {
    simulation::CentersFile before;
    simulation::CentersFile after;
};

Result<BothNetworks> networks_of(const simulation::LiveExport& live, const SimulationOrder& order)
{
    Result<simulation::CentersFile> before = simulation::parse_centers(live.centers);
    if (!before) return before.error();
    Json changed = live.centers;
    if (const Result<void> done = simulation::apply_changes(changed, order.changes, "changes"); !done)
        return done.error();
    Result<simulation::CentersFile> after = simulation::parse_centers(changed);
    if (!after) return after.error();
    return BothNetworks{std::move(*before), std::move(*after)};
}

} // namespace

SimulationsService::SimulationsService(OwnNetwork::Means means, const Clock& clock, SimulationLimits limits)
    : means_(std::move(means)), clock_(&clock), limits_(limits)
{
}

asio::awaitable<Result<Json>> SimulationsService::compare(Principal caller, SimulationOrder order)
{
    const std::shared_ptr<const void> place = place_.take("");
    if (!place) co_return Error{Errc::kTooMany, "another simulation runs: ask again when it has ended"};
    const StopFlag stop = begin();
    if (!stop) co_return stopped_error();
    asio::steady_timer limit(means_.executor, limits_.time);
    limit.async_wait([stop](const boost::system::error_code& error) {
        if (!error) stop->store(true);
    });
    auto work = [this, &caller, &order, &stop] { return simulate(caller, order, *stop); };
    Result<Json> answer = co_await pool_.run("", work);
    limit.cancel();
    if (stop->load()) co_return stopped_error();
    co_return answer;
}

void SimulationsService::stop()
{
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    if (running_) running_->store(true);
}

SimulationsService::StopFlag SimulationsService::begin()
{
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) return nullptr;
    running_ = std::make_shared<std::atomic<bool>>(false);
    return running_;
}

Error SimulationsService::stopped_error()
{
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) return {Errc::kUnavailable, "the server is stopping"};
    return {Errc::kDeadline, "the simulation takes longer than " + std::to_string(limits_.time.count() / 1000) +
                                 " s: ask for fewer days or jobs, or use `fathom simulate`"};
}

Result<Json> SimulationsService::simulate(const Principal& caller, const SimulationOrder& order,
                                          const std::atomic<bool>& stop) const
{
    const simulation::ExportSpan span = span_of(order, clock_->now());
    OwnNetwork network(means_, caller, stop);
    const Result<simulation::LiveExport> live = simulation::export_live_network(network, span);
    if (!live) return live.error();
    if (live->jobs.lines.empty())
        return Error{Errc::kInfeasible, "the network had no jobs in these days that can be simulated"};
    const Result<BothNetworks> networks = networks_of(*live, order);
    if (!networks) return networks.error();
    std::istringstream lines(simulation::lines_text(live->jobs));
    const Result<simulation::WorkloadInput> workload = simulation::read_job_lines(lines);
    if (!workload) return Error{Errc::kInfeasible, workload.error().detail};
    const simulation::ComparisonOrder compared{.before = {.centers = &networks->before, .policy = order.policy},
                                               .after = {.centers = &networks->after, .policy = order.policy_after},
                                               .seed = order.seed};
    const simulation::SimulationHooks hooks{.progress = nullptr, .stop = &stop};
    const Result<simulation::Comparison> comparison = simulation::compare_networks(compared, *workload, hooks);
    // Its input was checked: what is left is a network in which none of the jobs can run.
    if (!comparison && comparison.error().code == Errc::kInvalid)
        return Error{Errc::kInfeasible, comparison.error().detail};
    if (!comparison) return comparison.error();
    Json answer = period_json(span, *live);
    answer.update(simulation::to_json(*comparison));
    return answer;
}

} // namespace fathom::server
