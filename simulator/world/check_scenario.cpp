#include "simulator/world/check_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulation {
namespace {

/// More would not fit the numbers that jobs are counted by.
constexpr std::size_t kMaxJobs = std::numeric_limits<std::uint32_t>::max();

/// What a job keeps of its speed beside another one.
constexpr double kMinKept = 1e-3;
constexpr double kMaxKept = 2;

Error invalid_scenario(std::string detail)
{
    return {Errc::kInvalid, std::move(detail)};
}

bool is_amount(double value)
{
    return std::isfinite(value) && value >= 0;
}

/// Pairs only are known, of jobs with one part each.
Result<void> check_devices(const Network& network, const UnitType& type)
{
    const std::size_t pairs = type.units_per_device == 1 ? 0 : network.job_types.size() * network.job_types.size();
    const bool is_valid = (type.units_per_device == 1 || type.units_per_device == 2) &&
                          type.unit_count % type.units_per_device == 0 && type.kept_beside.size() == pairs &&
                          std::all_of(type.kept_beside.begin(), type.kept_beside.end(),
                                      [](double kept) { return kept == 0 || (kept >= kMinKept && kept <= kMaxKept); });
    if (!is_valid) return invalid_scenario(fmt::format("unit type {} has devices that cannot be shared so", type.name));
    return {};
}

Result<void> check_unit_type(const Network& network, const UnitType& type)
{
    if (type.center >= network.centers.size())
        return invalid_scenario(fmt::format("unit type {} has no center", type.name));
    if (type.unit_count < 0) return invalid_scenario(fmt::format("unit type {} has a negative count", type.name));
    if (type.rates.size() != network.job_types.size())
        return invalid_scenario(fmt::format("unit type {} does not say how fast it is at every job type", type.name));
    for (std::size_t job_type = 0; job_type < type.rates.size(); ++job_type) {
        const UnitTypeRate& rate = type.rates[job_type];
        std::int64_t last_count = 0;
        bool is_valid = is_amount(rate.rate);
        for (const CountSpeedup& point : rate.speedups) {
            is_valid = is_valid && point.unit_count > last_count && std::isfinite(point.speedup) && point.speedup > 0;
            last_count = point.unit_count;
        }
        if (!is_valid)
            return invalid_scenario(fmt::format("unit type {} has rates of {} that make no sense", type.name,
                                                network.job_types[job_type].name));
    }
    const UnitFailures& failures = type.failures;
    if (!is_amount(failures.mean_between_s) || !is_amount(failures.mean_repair_s) || !is_amount(type.peak_flops) ||
        !is_amount(type.benchmark) || !is_amount(type.idle_power_w))
        return invalid_scenario(fmt::format("unit type {} has figures that make no sense", type.name));
    return check_devices(network, type);
}

Result<void> check_center(const Center& center)
{
    bool is_valid = is_amount(center.start_up_s);
    for (const Closure& closure : center.closures)
        is_valid =
            is_valid && std::isfinite(closure.from_s) && std::isfinite(closure.to_s) && closure.from_s < closure.to_s;
    is_valid = is_valid && std::all_of(center.network_rate_bytes.begin(), center.network_rate_bytes.end(), is_amount);
    if (!is_valid) return invalid_scenario(fmt::format("center {} has times or rates that make no sense", center.name));
    return {};
}

Result<void> check_job(const Scenario& scenario, std::size_t index, double last_arrival_s)
{
    const Job& job = scenario.workload.jobs[index];
    const Workload& workload = scenario.workload;
    if (!std::isfinite(job.arrival_s) || job.arrival_s < last_arrival_s)
        return invalid_scenario(fmt::format("job {} arrives before the one ahead of it", index));
    if (!std::isfinite(job.work) || job.work <= 0 || !is_amount(job.estimate_s))
        return invalid_scenario(fmt::format("job {} has a run time that makes no sense", index));
    if (job.unit_count < 1 || job.max_units < 0)
        return invalid_scenario(fmt::format("job {} asks for no units", index));
    if (job.job_type >= scenario.network.job_types.size() || job.project >= workload.projects.size() ||
        job.user >= workload.users.size() || job.details >= workload.details.size())
        return invalid_scenario(
            fmt::format("job {} refers to a job type, project, user or details that are not there", index));
    return {};
}

Result<void> check_knowledge(const KnowledgeSettings& settings)
{
    for (const double value :
         {settings.measurement_noise, settings.job_noise, settings.run_noise, settings.measure_every_s,
          settings.drift_per_day, settings.report_every_s, settings.learn_every_s}) {
        if (!is_amount(value))
            return invalid_scenario("the settings of what is known make no sense: numbers must not be negative");
    }
    return {};
}

Result<void> check_details(const Scenario& scenario)
{
    for (const JobDetails& details : scenario.workload.details) {
        constexpr std::int32_t kMaxPriority = 100;
        const Preference& prefer = details.prefer;
        const bool is_preference = is_amount(prefer.time) && is_amount(prefer.cost) && is_amount(prefer.energy);
        const bool has_center = !details.center || *details.center < scenario.network.centers.size();
        const bool has_types =
            std::all_of(details.unit_types.begin(), details.unit_types.end(),
                        [&](std::uint32_t type) { return type < scenario.network.unit_types.size(); });
        if (!has_center || !has_types || !is_preference || std::abs(details.priority) > kMaxPriority ||
            !is_amount(details.data_in_bytes) || !is_amount(details.data_out_bytes) ||
            (details.deadline_in_s && !std::isfinite(*details.deadline_in_s)) ||
            (details.budget && !is_amount(*details.budget)))
            return invalid_scenario("the details of some job make no sense");
    }
    return {};
}

} // namespace

Result<void> check_scenario(const Scenario& scenario)
{
    const Workload& workload = scenario.workload;
    if (scenario.network.unit_types.empty()) return invalid_scenario("the network has no unit types");
    if (workload.jobs.size() > kMaxJobs) return invalid_scenario("there are too many jobs");
    if (workload.first_counted >= workload.end_counted || workload.end_counted > workload.jobs.size())
        return invalid_scenario("no jobs are counted");
    for (const UnitType& type : scenario.network.unit_types) {
        if (Result<void> done = check_unit_type(scenario.network, type); !done) return done;
    }
    for (const Center& center : scenario.network.centers) {
        if (Result<void> done = check_center(center); !done) return done;
    }
    if (Result<void> done = check_details(scenario); !done) return done;
    const bool has_parts = std::any_of(scenario.network.unit_types.begin(), scenario.network.unit_types.end(),
                                       [](const UnitType& type) { return type.units_per_device > 1; });
    double last_arrival_s = 0;
    for (std::size_t job = 0; job < workload.jobs.size(); ++job) {
        if (Result<void> done = check_job(scenario, job, last_arrival_s); !done) return done;
        if (has_parts && (workload.jobs[job].unit_count > 1 || workload.jobs[job].max_units > 1))
            return invalid_scenario(
                fmt::format("job {} asks for several units: where jobs share devices each has one", job));
        last_arrival_s = workload.jobs[job].arrival_s;
    }
    return check_knowledge(scenario.knowledge);
}

} // namespace fathom::simulation
