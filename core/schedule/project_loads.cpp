#include "core/schedule/project_loads.hpp"

#include <algorithm>
#include <tuple>

namespace fathom {

void set_project_loads(const CycleTools& tools, std::vector<WaitingJobView>& views)
{
    const std::span<const ReadyJob> jobs = tools.jobs();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Probes are the network's own: no project's load counts for them.
        if (!views[i].options.empty() && !jobs[i].request.is_probe) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(jobs[b].priority, jobs[a].id) < std::tie(jobs[a].priority, jobs[b].id);
    });
    std::vector<PlannedTake> takes;
    OptionsAlone options_alone;
    DecidedLedger& ledger = *tools.ledger;
    for (const std::size_t job : order) {
        const JobOption& alone = options_alone.of(views[job].options);
        takes.push_back(
            {jobs[job].request.project, tools.places->unit_type(alone.unit_type).id.value, alone.unit_count});
        ledger.name_project(jobs[job].request.project);
    }
    if (ledger.project_uses().size() < 2) return; // nothing is to be shared
    std::vector<UnitTypeSize> sizes;
    const UnitTypeList& unit_types = ledger.units().views();
    for (std::size_t i = 0; i < unit_types.size(); ++i)
        sizes.push_back({unit_types.given(i).id.value, unit_types.given(i).unit_count});
    const std::vector<double> loads = progressive_loads(ledger.project_uses(), sizes, takes);
    for (std::size_t i = 0; i < order.size(); ++i)
        views[order[i]].fair_load = loads[i];
}

} // namespace fathom
