#include "simulator/setup/join_scenario.hpp"

#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/workloads/workload_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr std::string_view kNoSuchPlace = "for a center or unit type that is not there";
constexpr std::string_view kRunsNowhere = "no unit type for it";
constexpr std::string_view kTooLarge = "larger than any unit type";
constexpr double kLastArrivalS = 1e10; ///< some 300 years

/// What the workload tells of its job type on a unit type of that name.
const UnitTypeRate* measured_rate(const WorkloadInput& input, const std::string& unit_type, std::size_t type)
{
    for (const MeasuredUnitType& measured : input.measured) {
        if (measured.name == unit_type) return &measured.rates[type];
    }
    return nullptr;
}

void add_job_type(const CentersFile& file, const WorkloadInput& input, std::size_t type, Network& network)
{
    network.job_types.push_back(input.job_types[type]);
    for (std::size_t u = 0; u < network.unit_types.size(); ++u) {
        UnitType& unit_type = network.unit_types[u];
        const UnitTypeRate* measured = measured_rate(input, unit_type.name, type);
        unit_type.rates.push_back(measured != nullptr ? *measured : file.other_rates[u].value_or(UnitTypeRate{}));
    }
}

/// Numbers the workload's job types as the network does, which gets those that it has not yet.
void join_job_types(const CentersFile& file, WorkloadInput& input, Network& network)
{
    std::map<std::string, std::uint32_t> index;
    for (std::size_t type = 0; type < network.job_types.size(); ++type)
        index.emplace(network.job_types[type].name, static_cast<std::uint32_t>(type));
    std::vector<std::uint32_t> joined;
    for (std::size_t type = 0; type < input.job_types.size(); ++type) {
        const auto next = static_cast<std::uint32_t>(network.job_types.size());
        const auto [found, is_new] = index.try_emplace(input.job_types[type].name, next);
        joined.push_back(found->second);
        if (is_new)
            add_job_type(file, input, type, network);
        else if (found->second < file.tells_scaling.size() && !file.tells_scaling[found->second])
            network.job_types[found->second].scaling = input.job_types[type].scaling;
    }
    for (Job& job : input.workload.jobs)
        job.job_type = joined[job.job_type];
}

/// Unit types by the names that jobs call them.
std::vector<std::uint32_t> unit_types_named(const Network& network, const std::string& name)
{
    std::vector<std::uint32_t> found;
    for (std::size_t u = 0; u < network.unit_types.size(); ++u) {
        const UnitType& unit_type = network.unit_types[u];
        if (unit_type.name == name || network.centers[unit_type.center].name + "/" + unit_type.name == name)
            found.push_back(static_cast<std::uint32_t>(u));
    }
    return found;
}

/// Numbers the places that jobs ask for as the network does.
/// @return by details: whether there is such a place.
std::vector<bool> join_places(const WorkloadInput& input, const Network& network, std::vector<JobDetails>& details)
{
    std::vector<std::vector<std::uint32_t>> unit_types;
    unit_types.reserve(input.unit_types.size());
    for (const std::string& name : input.unit_types)
        unit_types.push_back(unit_types_named(network, name));
    std::vector<bool> is_there(details.size(), true);
    for (std::size_t d = 0; d < details.size(); ++d) {
        if (const std::optional<std::uint32_t> asked = details[d].center) {
            const std::string& name = input.centers[*asked];
            const auto center = std::find_if(network.centers.begin(), network.centers.end(),
                                             [&](const Center& one) { return one.name == name; });
            is_there[d] = center != network.centers.end();
            details[d].center = static_cast<std::uint32_t>(center - network.centers.begin());
        }
        std::vector<std::uint32_t> allowed;
        for (const std::uint32_t asked : std::exchange(details[d].unit_types, {}))
            allowed.insert(allowed.end(), unit_types[asked].begin(), unit_types[asked].end());
        std::sort(allowed.begin(), allowed.end());
        allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
        if (allowed.empty() && !input.workload.details[d].unit_types.empty()) is_there[d] = false;
        details[d].unit_types = std::move(allowed);
    }
    return is_there;
}

/// The most units that a job of this kind finds in one place; 0 where it runs nowhere.
class LargestPlaces {
  public:
    explicit LargestPlaces(const Scenario& scenario) : scenario_(scenario) {}

    std::int64_t of(const Job& job)
    {
        const auto [found, is_new] = most_.try_emplace({job.job_type, job.details}, 0);
        if (!is_new) return found->second;
        Job smallest = job;
        smallest.unit_count = 1;
        for (std::size_t u = 0; u < scenario_.network.unit_types.size(); ++u) {
            if (fits(scenario_, smallest, u))
                found->second = std::max(found->second, scenario_.network.unit_types[u].unit_count);
        }
        return found->second;
    }

  private:
    const Scenario& scenario_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> most_;
};

/// Leaves out the jobs that can run nowhere.
void keep_what_fits(JoinedScenario& joined, const std::vector<bool>& is_there)
{
    Scenario& scenario = joined.scenario;
    std::vector<Job>& jobs = scenario.workload.jobs;
    LargestPlaces largest(scenario);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Job job = jobs[i];
        const std::int64_t line = joined.lines[i];
        const std::int64_t most = is_there[job.details] ? largest.of(job) : 0;
        if (most >= job.unit_count) {
            jobs[kept] = job;
            joined.lines[kept] = line;
            ++kept;
        } else {
            count_skip(scenario.skips,
                       !is_there[job.details] ? kNoSuchPlace
                       : most == 0            ? kRunsNowhere
                                              : kTooLarge,
                       line);
        }
    }
    jobs.resize(kept);
    joined.lines.resize(kept);
}

Result<void> set_counted(Workload& workload, const std::optional<CountedRange>& counted)
{
    const std::size_t job_count = workload.jobs.size();
    workload.first_counted = counted ? counted->first : 0;
    workload.end_counted = counted ? counted->end.value_or(job_count) : job_count;
    if (workload.end_counted <= job_count && workload.first_counted < workload.end_counted) return {};
    return Error{Errc::kInvalid, fmt::format("the counted range {}:{} is not within the {} jobs that are simulated",
                                             workload.first_counted, workload.end_counted, job_count)};
}

/// Arrivals keep their order and their proportions, and the first its time.
Result<void> stretch_to_load(Scenario& scenario, double load)
{
    const double now = load_of(scenario);
    if (!std::isfinite(now) || now <= 0)
        return Error{Errc::kInvalid, "no load can be reached: all counted jobs come at one moment"};
    const double first_s = scenario.workload.jobs.front().arrival_s;
    const double last_s = first_s + (scenario.workload.jobs.back().arrival_s - first_s) * (now / load);
    if (!(load > 0) || !(last_s <= kLastArrivalS))
        return Error{Errc::kInvalid,
                     fmt::format("a load of {} cannot be reached: the jobs would come over more than 300 "
                                 "years",
                                 load)};
    for (Job& job : scenario.workload.jobs)
        job.arrival_s = first_s + (job.arrival_s - first_s) * (now / load);
    return {};
}

} // namespace

Result<JoinedScenario> join_scenario(const CentersFile& centers, WorkloadInput input, const JoinSettings& settings)
{
    JoinedScenario joined;
    Scenario& scenario = joined.scenario;
    scenario.network = centers.network;
    scenario.knowledge = centers.knowledge;
    join_job_types(centers, input, scenario.network);
    std::vector<JobDetails> details = input.workload.details;
    const std::vector<bool> is_there = join_places(input, scenario.network, details);
    scenario.workload = std::move(input.workload);
    scenario.workload.details = std::move(details);
    scenario.skips = std::move(input.skips);
    joined.lines = std::move(input.lines);
    keep_what_fits(joined, is_there);
    if (scenario.workload.jobs.empty()) {
        const InputSkips& last = scenario.skips.back();
        return Error{Errc::kInvalid,
                     fmt::format("no job can run in this network; line {}: {}", last.lines.front(), last.rule)};
    }
    if (const Result<void> set = set_counted(scenario.workload, settings.counted); !set) return set.error();
    if (settings.load) {
        if (const Result<void> stretched = stretch_to_load(scenario, *settings.load); !stretched)
            return stretched.error();
    }
    return joined;
}

} // namespace fathom::simulation
