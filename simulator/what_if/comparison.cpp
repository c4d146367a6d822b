#include "simulator/what_if/comparison.hpp"

#include "simulator/figures/figure_fields.hpp"
#include "simulator/world/check_scenario.hpp"

#include <algorithm>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxMoments = 200;

bool has_price(const UnitType& unit_type)
{
    const std::array<double, 168>& per_hour = unit_type.price.per_hour();
    return std::any_of(per_hour.begin(), per_hour.end(), [](double price) { return price > 0; });
}

std::vector<CenterFigures> figures_by_center(const Network& network, const PolicyRun& run)
{
    std::vector<CenterFigures> centers;
    for (std::size_t i = 0; i < network.centers.size(); ++i)
        centers.push_back({.center = network.centers[i].name, .unit_count = 0, .figures = run.by_center[i]});
    for (const UnitType& unit_type : network.unit_types)
        centers[unit_type.center].unit_count += unit_type.unit_count;
    return centers;
}

void count_waits(const Workload& workload, const SimulationResult& result, ComparedResult& compared)
{
    for (std::size_t i = workload.first_counted; i < workload.end_counted; ++i) {
        const JobOutcome& outcome = result.jobs[i];
        if (outcome.state != JobState::kEnded) continue;
        const double wait_s = outcome.start_s - workload.jobs[i].arrival_s;
        const auto bound = std::upper_bound(kWaitBounds.begin(), kWaitBounds.end(), wait_s);
        ++compared.waits.at(static_cast<std::size_t>(bound - kWaitBounds.begin()));
    }
}

std::vector<ComparedMoment> moments_of(const Network& network, const SimulationResult& result)
{
    double unit_count = 0;
    for (const UnitType& unit_type : network.unit_types)
        unit_count += static_cast<double>(unit_type.unit_count);
    const std::size_t step = (result.series.size() + kMaxMoments - 1) / kMaxMoments;
    std::vector<ComparedMoment> moments;
    for (std::size_t i = 0; i < result.series.size(); i += step) {
        const SeriesPoint& point = result.series[i];
        double busy = 0;
        for (const std::int64_t units : point.busy_units)
            busy += static_cast<double>(units);
        moments.push_back({.at_s = point.at_s - result.counted_from_s,
                           .waiting_jobs = point.waiting_jobs,
                           .running_jobs = point.running_jobs,
                           .busy_share = busy / unit_count});
    }
    return moments;
}

Result<ComparedResult> simulate_case(const ComparedCase& one, const ComparisonOrder& order,
                                     const WorkloadInput& workload, const SimulationHooks& hooks)
{
    Result<JoinedScenario> joined = join_scenario(*one.centers, workload, {.counted = order.counted});
    if (!joined) return joined.error();
    const Scenario& scenario = joined->scenario;
    if (const Result<void> valid = check_scenario(scenario); !valid) return valid.error();
    if (order.on_begin) order.on_begin(one.policy);
    Result<SimulationResult> result = simulate(scenario, one.policy, order.seed, hooks);
    if (!result) return result.error();
    const PolicyRun run = figure_out(scenario, one.policy, order.seed, std::move(*result));
    ComparedResult compared{.policy = one.policy,
                            .figures = run.all,
                            .centers = figures_by_center(scenario.network, run),
                            .left_out = scenario.skips,
                            .moments = moments_of(scenario.network, run.result)};
    count_waits(scenario.workload, run.result, compared);
    const std::vector<UnitType>& unit_types = scenario.network.unit_types;
    compared.has_prices = std::any_of(unit_types.begin(), unit_types.end(), has_price);
    compared.was_stopped = run.result.was_stopped;
    return compared;
}

Json figures_json(const Figures& figures, bool has_prices)
{
    Json json = to_json(figures);
    if (!has_prices) json["cost"] = nullptr;
    return json;
}

Json compared_json(const ComparedResult& compared)
{
    Json centers = Json::array();
    for (const CenterFigures& center : compared.centers)
        centers.push_back({{"center", center.center},
                           {"unit_count", center.unit_count},
                           {"figures", figures_json(center.figures, compared.has_prices)}});
    Json left_out = Json::array();
    for (const InputSkips& skip : compared.left_out)
        left_out.push_back({{"reason", skip.rule}, {"job_count", skip.count}});
    Json moments = Json::array();
    for (const ComparedMoment& moment : compared.moments)
        moments.push_back({{"at_s", moment.at_s},
                           {"waiting_jobs", moment.waiting_jobs},
                           {"running_jobs", moment.running_jobs},
                           {"busy_share", moment.busy_share}});
    return {{"policy", compared.policy},     {"figures", figures_json(compared.figures, compared.has_prices)},
            {"centers", std::move(centers)}, {"left_out", std::move(left_out)},
            {"waits", compared.waits},       {"moments", std::move(moments)}};
}

} // namespace

Result<Comparison> compare_networks(const ComparisonOrder& order, const WorkloadInput& workload,
                                    const SimulationHooks& hooks)
{
    Result<ComparedResult> before = simulate_case(order.before, order, workload, hooks);
    if (!before) return before.error();
    Result<ComparedResult> after = simulate_case(order.after, order, workload, hooks);
    if (!after) return after.error();
    return Comparison{.currency = order.before.centers->network.currency,
                      .seed = order.seed,
                      .before = std::move(*before),
                      .after = std::move(*after)};
}

Json to_json(const Comparison& comparison)
{
    const bool has_prices = comparison.before.has_prices || comparison.after.has_prices;
    return {{"currency", has_prices ? Json(comparison.currency) : Json()},
            {"seed", comparison.seed},
            {"is_partial", comparison.before.was_stopped || comparison.after.was_stopped},
            {"wait_bounds_s", kWaitBounds},
            {"before", compared_json(comparison.before)},
            {"after", compared_json(comparison.after)}};
}

} // namespace fathom::simulation
