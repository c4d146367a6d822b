#include "simulator/figures/network_load.hpp"

#include "core/decide/queue/shadow_price.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/world/job_kinds.hpp"

#include <algorithm>
#include <limits>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxKinds = 5000;

/// All counted jobs of a kind are one: at whatever shadow prices of the units, they want the same place.
struct KindWork {
    std::vector<double> work;   ///< by kind
    std::vector<double> unit_s; ///< by kind, on reference units: for how much it stands
};

KindWork add_up(const Workload& workload, JobKinds& kinds)
{
    KindWork sums;
    for (std::size_t i = workload.first_counted; i < workload.end_counted; ++i) {
        const Job& job = workload.jobs[i];
        const std::size_t kind = kinds.index_of(job);
        sums.work.resize(kinds.size());
        sums.unit_s.resize(kinds.size());
        sums.work[kind] += job.work;
        sums.unit_s[kind] += job.work * static_cast<double>(job.unit_count);
    }
    return sums;
}

std::vector<JobOption> places_of(const JobKind& kind, double work)
{
    std::vector<JobOption> places = kind.places;
    for (JobOption& place : places)
        place.run_s *= work;
    return places;
}

} // namespace

double load_of(const Scenario& scenario)
{
    const Workload& workload = scenario.workload;
    const double span_s =
        workload.first_counted < workload.end_counted
            ? workload.jobs[workload.end_counted - 1].arrival_s - workload.jobs[workload.first_counted].arrival_s
            : 0;
    if (span_s <= 0) return std::numeric_limits<double>::quiet_NaN();

    JobKinds kinds(scenario);
    const KindWork sums = add_up(workload, kinds);
    const std::size_t step = (kinds.size() + kMaxKinds - 1) / kMaxKinds;
    std::vector<JobOptions> arrived;
    double seen_unit_s = 0;
    double all_unit_s = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (kinds[kind].places.empty()) continue;
        all_unit_s += sums.unit_s[kind];
        if (kind % step != 0) continue;
        seen_unit_s += sums.unit_s[kind];
        arrived.push_back(places_of(kinds[kind], sums.work[kind]));
    }
    if (!(seen_unit_s > 0)) return 0;

    std::vector<UnitTypeLoad> unit_types;
    unit_types.reserve(scenario.network.unit_types.size());
    for (const UnitType& type : scenario.network.unit_types)
        unit_types.push_back({type.unit_count, type.unit_count, 1, 1, {}});
    double load = 0;
    // Of parts of the network that share no jobs, the one that needs longest says when all is done.
    for (const UnitShadowPrice& one : find_shadow_prices(arrived, span_s * (seen_unit_s / all_unit_s), unit_types))
        load = std::max(load, one.load);
    return load;
}

} // namespace fathom::simulation
