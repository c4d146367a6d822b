#include "simulator/world/job_kinds.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace fathom::simulation {
namespace {

/// Counts among which are those with the shortest time and with the least unit-time: between two counts of a table the
/// speed-up is linear, so both lie at ends.
std::vector<std::int64_t> counts_to_try(const Job& job, const UnitType& type)
{
    const std::int64_t least = job.unit_count;
    const std::int64_t most = std::min<std::int64_t>(std::max(job.max_units, job.unit_count), type.unit_count);
    std::vector<std::int64_t> counts{least};
    if (job.job_type < type.rates.size()) {
        for (const CountSpeedup& one : type.rates[job.job_type].speedups) {
            if (one.unit_count > least && one.unit_count < most) counts.push_back(one.unit_count);
        }
    }
    if (most > least) counts.push_back(most);
    return counts;
}

std::vector<std::uint32_t> rules_of(const std::vector<JobDetails>& details)
{
    std::map<std::pair<std::optional<std::uint32_t>, std::vector<std::uint32_t>>, std::uint32_t> known;
    std::vector<std::uint32_t> rules;
    rules.reserve(details.size());
    for (const JobDetails& one : details) {
        const auto next = static_cast<std::uint32_t>(known.size());
        rules.push_back(known.try_emplace({one.center, one.unit_types}, next).first->second);
    }
    return rules;
}

} // namespace

JobKinds::JobKinds(const Scenario& scenario) : scenario_(&scenario), rules_(rules_of(scenario.workload.details)) {}

std::size_t JobKinds::index_of(const Job& job)
{
    const Key key{job.job_type, rules_[job.details], job.unit_count, job.max_units};
    const auto [found, is_new] = index_.try_emplace(key, kinds_.size());
    if (is_new) kinds_.push_back(make_kind(job));
    return found->second;
}

JobKind JobKinds::make_kind(const Job& job) const
{
    Job one_second = job;
    one_second.work = 1;
    JobKind kind;
    kind.shortest_s = std::numeric_limits<double>::infinity();
    double run_unit_s = 0;
    double units = 0;
    for (std::size_t type = 0; type < scenario_->network.unit_types.size(); ++type) {
        if (!fits(*scenario_, one_second, type)) continue;
        const UnitType& unit_type = scenario_->network.unit_types[type];
        double shortest_s = std::numeric_limits<double>::infinity();
        for (const std::int64_t count : counts_to_try(one_second, unit_type)) {
            const double run_s = true_run_s(scenario_->network, one_second, type, count);
            kind.places.push_back({type, count, run_s});
            shortest_s = std::min(shortest_s, run_s);
        }
        kind.shortest_s = std::min(kind.shortest_s, shortest_s);
        run_unit_s += shortest_s * static_cast<double>(unit_type.unit_count);
        units += static_cast<double>(unit_type.unit_count);
    }
    kind.mean_s = units > 0 ? run_unit_s / units : kind.shortest_s;
    return kind;
}

} // namespace fathom::simulation
