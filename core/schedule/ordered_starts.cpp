#include "core/schedule/ordered_starts.hpp"

#include "core/decide/routing/route_reasons.hpp"
#include "core/schedule/job_start.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace fathom {
namespace {

/// Whether those who were placed on its GPUs meanwhile have made the place worse than the order took it for, so that
/// the job, alone, would now start elsewhere.
bool has_lost_its_place(const CycleTools& tools, std::size_t job, const JobOption& option)
{
    const ReadyJob& ready = tools.job(job);
    if (!ready.request.minds_gpu_neighbours()) return false;
    const std::shared_ptr<const Decision> decision = tools.ledger->decide(ready);
    if (!decision->winner || !decision->can_start_now) return false;
    const UnitTypeId& place = tools.places->unit_type(option.unit_type).id;
    if (decision->candidates[*decision->winner].unit_type_id == place) return false;
    const auto here = std::find_if(decision->candidates.begin(), decision->candidates.end(),
                                   [&](const Candidate& one) { return one.unit_type_id == place; });
    if (here == decision->candidates.end()) return false;
    const auto now = std::find_if(here->offers.begin(), here->offers.end(),
                                  [&](const CountOffer& one) { return one.unit_count == option.unit_count; });
    if (now == here->offers.end() || !(now->run_s > 0)) return false;
    const double expected_s = option.run_s * option.relative_objective + option.beyond_s;
    return now->run_s + now->beyond_s > expected_s * (1 + kTieFraction);
}

bool start_alone(const CycleTools& tools, std::size_t job, const JobOption& option, const StartEffects& effects)
{
    CycleJobs& jobs = effects.jobs;
    PlanDraft& draft = effects.draft;
    if (jobs.is_done[job]) return false; // held, since another probe of its host started
    jobs.is_done[job] = !has_lost_its_place(tools, job, option) && start_at(tools, job, option, draft);
    if (jobs.is_done[job])
        effects.held.note_start(job, draft.plan.starts.back().winner.center_id, jobs, draft.plan.waits);
    else
        lose_option(jobs, job, option);
    return jobs.is_done[job];
}

bool start_gang(const CycleTools& tools, const OrderCall& asked, const std::vector<OrderedStart>& members,
                PlanDraft& draft)
{
    const std::size_t started = draft.plan.starts.size();
    tools.ledger->begin_trial();
    const bool is_started = std::all_of(members.begin(), members.end(), [&](const OrderedStart& member) {
        return start_at(tools, asked.jobs[member.job], asked.views[member.job].options[member.option], draft);
    });
    if (is_started) {
        tools.ledger->keep_trial();
        return true;
    }
    tools.ledger->undo_trial();
    draft.plan.starts.resize(started);
    std::erase_if(draft.ordered, [&](const OrderedPlace& one) { return one.start >= started; });
    return false;
}

} // namespace

bool make_starts(const CycleTools& tools, const OrderCall& asked, const std::vector<OrderedStart>& starts,
                 const StartEffects& effects)
{
    // Of a gang all or none: its members start in one go, wherever the first of them stands.
    std::map<std::string, std::vector<OrderedStart>> gangs;
    for (const OrderedStart& one : starts) {
        if (!asked.views[one.job].gang.empty()) gangs[asked.views[one.job].gang].push_back(one);
    }
    bool has_refused = false;
    std::set<std::string> seen;
    for (const OrderedStart& one : starts) {
        const WaitingJobView& view = asked.views[one.job];
        if (view.gang.empty()) {
            const bool is_started = start_alone(tools, asked.jobs[one.job], view.options[one.option], effects);
            has_refused = has_refused || !is_started;
        } else if (seen.insert(view.gang).second) {
            const std::vector<OrderedStart>& members = gangs.at(view.gang);
            const bool is_started = start_gang(tools, asked, members, effects.draft);
            has_refused = has_refused || !is_started;
            for (const OrderedStart& member : members)
                (is_started ? effects.jobs.is_done : effects.jobs.is_refused)[asked.jobs[member.job]] = true;
        }
    }
    return has_refused;
}

} // namespace fathom
