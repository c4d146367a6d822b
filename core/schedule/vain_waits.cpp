#include "core/schedule/vain_waits.hpp"

#include "core/decide/queue/deferred_start.hpp"
#include "core/schedule/decided_places.hpp"

namespace fathom {

bool drop_vain_waits(const CycleTools& tools, const OrderCall& asked, CycleJobs& jobs, DeferredPlaces& deferred)
{
    deferred.clear();
    bool has_dropped = false;
    for (const DeferredStart& wait : find_deferred_starts(asked.views, tools.places->loads(), tools.input->settings)) {
        const std::size_t job = asked.jobs[wait.job];
        const JobOption& better = asked.views[wait.job].options[wait.option];
        const std::shared_ptr<const Decision> known = tools.ledger->decide(tools.job(job));
        const Decision& decision = *known;
        const std::optional<std::size_t> here = free_place(decision);
        const std::optional<std::size_t> there = later_place(decision, tools.places->unit_type(better.unit_type).id);
        const std::vector<Candidate>& places = decision.candidates;
        // The order does not know what is kept for others, nor how long starts take there.
        const bool pays = decision.winner && here && there &&
                          places[*there].start.wait_s - places[*here].start.wait_s <= wait.longest_wait_s;
        deferred.emplace(job, better.unit_type);
        if (pays || !here) continue;
        lose_option(jobs, job, better);
        has_dropped = true;
    }
    return has_dropped;
}

} // namespace fathom
