#include "server/routing/batch/batch_plan.hpp"

#include "core/base/join_text.hpp"
#include "core/schedule/waiting_reason.hpp"
#include "server/routing/batch/batch_gangs.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::server {
namespace {

/// Of the center's own batch system before the unit type.
double queued_s_of(const CatalogSnapshot& catalog, const UnitTypeId& id)
{
    const UnitTypeView* const view = catalog.find_unit_type(id.value);
    return view == nullptr ? 0 : view->queued_s;
}

/// The ledger that the batch decides on, as of the beginning of the batch.
UnitLedger& begin_ledger(const BatchTools& tools, const BatchRequests& requests,
                         const std::vector<PlannedUnits>& planned, ReadBatch& batch)
{
    CycleLedger& ledger = *tools.ledger;
    if (ledger.units) {
        ledger.units->begin_batch();
        return *ledger.units;
    }
    const CatalogPointer& catalog = requests.catalog();
    ledger.catalog = catalog;
    ledger.now = requests.now();
    ledger.reserved = ledger.attempts.reservations(catalog->unit_types);
    ledger.planned = reservations_of(planned);
    ledger.gpu_rooms = std::move(batch.gpu_rooms);
    const std::vector<KnownGpus> gpus = ledger.gpu_shares.gpus();
    const UnitState state{.calendar = &catalog->calendar,
                          .reserved = ledger.reserved,
                          .planned = ledger.planned,
                          .now = requests.now(),
                          .gpu_rooms = ledger.gpu_rooms,
                          .gpus = gpus};
    return ledger.units.emplace(catalog->unit_types, tools.cache->knowledge_for(*catalog), state,
                                tools.columns->get(catalog));
}

/// What the recorder keeps of the cycle that is going to be decided; without the input, which the decision is made by.
DecidedCycle note_cycle(const UnitLedger& units, const CycleLedger& ledger, const BatchRequests& requests)
{
    DecidedCycle cycle;
    cycle.id = CycleId::make();
    cycle.catalog = requests.catalog();
    cycle.knowledge = units.knowledge();
    cycle.moment.now = requests.now();
    cycle.moment.calendar = requests.catalog()->calendar;
    cycle.moment.reserved = ledger.reserved;
    cycle.moment.gpu_rooms = units.gpu_rooms();
    cycle.moment.planned = ledger.planned;
    cycle.moment.planned.insert(cycle.moment.planned.end(), units.reserved_later().begin(),
                                units.reserved_later().end());
    return cycle;
}

Result<Placement> place(const BatchTools& tools, BatchRequests& requests, const BatchJob& ready, ScheduledStart start)
{
    const Result<RouteRequest> wanted = requests.metering_request_of(ready.job);
    if (!wanted) return wanted.error();
    const bool knows_work = !ready.request.operators.empty();
    if (const auto places = requests.names_of(requests.unmeasured(*wanted, tools.settings->metering_period));
        !places.empty() && knows_work) {
        start.decision.assumptions.push_back("no fresh measurement of all its operators on " + join_text(places) +
                                             ": placed on what is known");
    }
    const CatalogSnapshot& catalog = *requests.catalog();
    Placement placement;
    placement.job = ready.job.id;
    placement.has_run_time = knows_work && start.winner.unknown_parts() == 0;
    placement.is_probe = ready.request.is_probe;
    placement.prediction = make_prediction(start.winner, ready.request, ready.job.id, asked_limit_s(ready.job.spec),
                                           queued_s_of(catalog, start.winner.unit_type_id), catalog.prices.currency());
    placement.project = ready.request.project;
    placement.gpu_memory = ready.request.units.gpu_memory;
    placement.gang = gang_text(ready.job);
    placement.decision = std::move(start.decision);
    placement.winner = std::move(start.winner);
    if (start.is_queued) placement.queued_s = placement.winner.plan.start_s;
    placement.inputs = std::move(start.inputs);
    return placement;
}

/// What the jobs that wait are told, and what is planned for them.
void keep_waiting(const std::vector<ScheduledWait>& waits, const ReadBatch& batch, const BatchRequests& requests,
                  PlannedBatch& planned)
{
    for (const ScheduledWait& wait : waits) {
        const WaitingJob& job = batch.jobs[batch.decided[wait.job]].job;
        ++planned.report.waiting;
        if (wait.planned) planned.report.next.planned.push_back({job.id.value, *wait.planned});
        if (wait.decision->winner) {
            // Its units stay free for others until then: it takes what there is when the window opens.
            if (const auto& window = wait.decision->candidates[*wait.decision->winner].plan.window)
                planned.report.next_window =
                    std::min(planned.report.next_window.value_or(window->start), window->start);
        }
        const bool may_refresh = planned.report.next.is_tick || job.waiting_reason.empty() ||
                                 job.state == JobState::kMetering || !wait.waits_for_units;
        if (!may_refresh) continue;
        const std::string reason = waiting_reason_of(wait, requests.now(), requests.catalog()->prices.currency());
        const GangRequest& gang = job.spec.gang;
        planned.notes.note_reason(job, gang.id.empty()
                                           ? reason
                                           : "waits until all " + std::to_string(gang.size) + " members of gang " +
                                                 gang.id + " can start together; alone it " + reason);
        planned.notes.note_rank(job, wait.priority_rank);
    }
}

/// The decided jobs of which something is to be written.
std::vector<DecidedJob> changed_jobs(const ReadBatch& batch, const PlannedBatch& planned)
{
    std::set<std::string_view> changed;
    for (const Placement& placement : planned.placements)
        changed.insert(placement.job.value);
    for (const GangEnd& end : planned.gang_ends)
        changed.insert(end.job.value);
    for (const WaitingReason& reason : planned.notes.reasons)
        changed.insert(reason.id.value);
    for (const NewRank& one : planned.notes.ranks)
        changed.insert(one.id.value);
    for (const DecidedDivision& division : planned.divisions)
        changed.insert(division.job.id.value);
    std::vector<DecidedJob> jobs;
    const auto add = [&](const WaitingJob& job) {
        if (changed.contains(job.id.value)) jobs.push_back({job.id, job.version});
    };
    for (const std::size_t index : batch.decided)
        add(batch.jobs[index].job);
    for (const UndividedJob& one : batch.undivided)
        add(one.job);
    return jobs;
}

/// Decides which of the jobs that may run in parts do so, by units of which nothing is taken.
void decide_divisions(const BatchTools& tools, const BatchRequests& requests,
                      const std::vector<UndividedJob>& undivided, PlannedBatch& planned)
{
    if (undivided.empty()) return;
    const CatalogPointer& catalog = requests.catalog();
    UnitLedger idle(catalog->unit_types, tools.cache->knowledge_for(*catalog),
                    {.calendar = &catalog->calendar, .now = requests.now()}, tools.columns->get(catalog));
    for (const UndividedJob& one : undivided) {
        Result<DecidedDivision> division = divide_job(one, idle.decide(one.request));
        if (division)
            planned.divisions.push_back(std::move(*division));
        else
            planned.notes.note_unroutable(one.job, division.error());
    }
}

/// Gangs that even an idle network could not start together wait for a while, since missing units may come back; then
/// these gangs end. Both leave the waits.
void settle_impossible_gangs(const UnitLedger& units, const ReadBatch& batch, std::vector<ScheduledWait>& waits,
                             PlannedBatch& planned)
{
    ImpossibleGangs impossible = find_impossible_gangs(units, waits, batch.jobs, batch.decided);
    std::erase_if(
        waits, [&](const ScheduledWait& wait) { return impossible.members.contains(batch.input.jobs[wait.job].id); });
    planned.report.waiting += impossible.waiting;
    planned.gang_ends = std::move(impossible.ends);
    planned.notes = std::move(impossible.notes);
}

/// Decides which of the jobs of the input start, and what the others wait for.
Result<void> plan_starts(const BatchTools& tools, BatchRequests& requests, ReadBatch& batch, DecidedBatch& decided)
{
    const auto began = std::chrono::steady_clock::now();
    PlannedBatch& planned = decided.planned;
    UnitLedger& units = begin_ledger(tools, requests, planned.report.next.planned, batch);
    if (tools.settings->recorder != nullptr) decided.cycle = note_cycle(units, *tools.ledger, requests);
    // Without pairs nobody asks who has which GPU.
    if (decided.cycle && batch.input.gpu_pairs) decided.cycle->moment.gpus = units.gpus();
    SchedulePlan plan = schedule(units, batch.input);
    const double decision_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    planned.report.decision_s += decision_s;
    if (decided.cycle) {
        planned.cycle_id = decided.cycle->id.value;
        decided.cycle->plan = record_of(plan);
        decided.cycle->decision_s = decision_s;
    }
    settle_impossible_gangs(units, batch, plan.waits, planned);
    keep_waiting(plan.waits, batch, requests, planned);
    tools.ledger->queue_room.left = std::move(plan.queue_room);
    for (ScheduledStart& start : plan.starts) {
        const BatchJob& job = batch.jobs[batch.decided[start.job]];
        Result<Placement> placed = place(tools, requests, job, std::move(start));
        if (!placed) return placed.error();
        planned.placements.push_back(std::move(*placed));
    }
    planned.report.has_free_unit = units.has_free_unit();
    planned.report.is_done = planned.report.is_end || (!planned.report.next.is_tick && !planned.report.has_free_unit);
    if (decided.cycle) decided.cycle->moment.input = std::move(batch.input); // nobody asks for it any more
    return {};
}

} // namespace

Result<DecidedBatch> plan_batch(ReadBatch batch, const BatchTools& tools, BatchRequests& requests)
{
    DecidedBatch decided;
    PlannedBatch& planned = decided.planned;
    planned.catalog = requests.catalog();
    planned.report = std::move(batch.report);
    if (!batch.input.jobs.empty()) {
        const Result<void> starts = plan_starts(tools, requests, batch, decided);
        if (!starts) return starts.error();
    }
    decide_divisions(tools, requests, batch.undivided, planned);
    planned.changed_jobs = changed_jobs(batch, planned);
    return decided;
}

} // namespace fathom::server
