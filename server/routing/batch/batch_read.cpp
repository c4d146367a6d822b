#include "server/routing/batch/batch_read.hpp"

#include "server/routing/batch/batch_claim.hpp"
#include "server/routing/batch/batch_gangs.hpp"
#include "server/routing/batch/batch_preparation.hpp"
#include "server/routing/batch/probe_hosts_store.hpp"
#include "server/routing/in_use/device_tenants.hpp"
#include "server/store/commit_without_wait.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace fathom::server {
namespace {

/// Others may decide on a batch's jobs after so long: whoever has them must be gone.
constexpr std::chrono::seconds kClaimLifetime{10};

/// Whether some unit is free, as far as it is known; reads what is in use where the cycle has no ledger yet.
bool read_free_unit(pqxx::work& transaction, const BatchTools& tools, const BatchRequests& requests, ReadBatch& batch)
{
    if (tools.ledger->units) return tools.ledger->units->has_free_unit();
    const CatalogSnapshot& catalog = *requests.catalog();
    KnownUse use = read_use_of_units(transaction, *tools.ledger, catalog);
    batch.gpu_rooms = std::move(use.gpu_rooms);
    count_taken(use.units.taken, reservations_of(batch.report.next.planned));
    return has_free_unit(catalog.unit_types, catalog.calendar, use.units.taken, requests.now());
}

bool is_worth_a_look(const WaitingJob& job, bool is_tick, bool has_room)
{
    return is_tick || job.waiting_reason.empty() || job.state == JobState::kMetering || has_room;
}

/// What the projects of the decided jobs have and may have.
void read_projects(pqxx::work& transaction, const BatchTools& tools, const CatalogSnapshot& catalog, ReadBatch& batch)
{
    std::set<std::string> limited;
    for (const std::size_t index : batch.decided) {
        const std::string& project = batch.jobs[index].request.project;
        if (!batch.jobs[index].request.is_probe && find_rules(catalog.projects, project).has_quota())
            limited.insert(project);
    }
    batch.input.project_uses = tools.uses->get(transaction, catalog);
    if (!limited.empty())
        batch.input.quota_uses = select_quota_uses(transaction, {limited.begin(), limited.end()}, scores_of(catalog));
}

/// Other replicas leave these jobs to this one while it decides on them.
void claim_decided(pqxx::work& transaction, const std::string& replica, const ReadBatch& batch)
{
    std::vector<std::string> ids;
    for (const ReadyJob& job : batch.input.jobs)
        ids.push_back(job.id);
    for (const UndividedJob& one : batch.undivided)
        ids.push_back(one.job.id.value);
    if (!ids.empty()) replace_routing_claim(transaction, replica, ids, kClaimLifetime);
}

/// Makes the ready jobs the input of the plan, all but members of gangs that are not complete, which wait.
void read_input(pqxx::work& transaction, const BatchTools& tools, BatchRequests& requests,
                const std::shared_ptr<const UnitTypeLoads>& loads, ReadBatch& batch)
{
    std::set<std::string> probed_centers;
    for (const std::size_t index : batch.decided) {
        const auto& [job, request] = batch.jobs[index];
        if (request.is_probe) probed_centers.insert(request.units.center);
        batch.input.jobs.push_back({.id = job.id.value,
                                    .request = request,
                                    .waited_s = std::max(0.0, Seconds(requests.now() - job.submitted_at).count()),
                                    .priority = job.spec.priority,
                                    .gang = gang_text(job),
                                    .gang_size = job.spec.gang.size,
                                    .kind = kind_of(job, requests.kind_of_spec(job.known))});
    }
    if (batch.input.jobs.empty()) return;
    read_projects(transaction, tools, *requests.catalog(), batch);
    batch.input.loads = loads;
    batch.input.may_queue = true;
    batch.input.queue_room = tools.ledger->queue_room.left;
    batch.input.probe_hosts = select_probe_hosts(transaction, probed_centers);
    const CycleLedger& ledger = *tools.ledger;
    batch.input.gpu_pairs =
        ledger.gpu_shares.pairs_among(batch.input.jobs, ledger.units ? ledger.units->gpus() : ledger.gpu_shares.gpus());
}

/// Nothing was noted but claims, reasons of waits and priority ranks, all of which the next cycle finds again.
bool are_only_claims(const PreparedJobs& prepared)
{
    return prepared.overdue == 0 && prepared.metered.empty() && prepared.metering.empty() &&
           !prepared.has_asked_for_probes && prepared.events.empty();
}

void write_notes(pqxx::work& transaction, const PreparedJobs& prepared, const WaitNotes& notes)
{
    update_to_metered(transaction, prepared.metered);
    update_to_metering(transaction, prepared.metering);
    update_waiting(transaction, notes.reasons, notes.ranks);
    record_job_events(transaction, prepared.events);
}

void append(WaitNotes& notes, WaitNotes more)
{
    notes.reasons.insert(notes.reasons.end(), std::make_move_iterator(more.reasons.begin()),
                         std::make_move_iterator(more.reasons.end()));
    notes.ranks.insert(notes.ranks.end(), std::make_move_iterator(more.ranks.begin()),
                       std::make_move_iterator(more.ranks.end()));
}

/// Prepares those of the claimed jobs that are worth a look. @param notes  gets why some of them cannot be routed.
Result<PreparedJobs> prepare_jobs(pqxx::work& transaction, const BatchTools& tools, BatchRequests& requests,
                                  const ClaimedBatch& claimed, bool has_free_unit, WaitNotes& notes)
{
    BatchPreparation preparation(transaction, tools, claimed.next, requests);
    for (const WaitingJob& job : claimed.jobs) {
        // Asked anew for each: a newer catalog may have room.
        if (!is_worth_a_look(job, claimed.next.is_tick, has_free_unit || tools.ledger->queue_room.has_some)) continue;
        if (const Result<void> prepared = preparation.prepare(job); !prepared) {
            if (may_succeed_again(prepared.error().code)) return prepared.error();
            notes.note_unroutable(job, prepared.error());
        }
    }
    return preparation.take();
}

} // namespace

Result<ReadBatch> read_batch(pqxx::work& transaction, const BatchTools& tools, BatchRequests& requests,
                             const std::shared_ptr<const UnitTypeLoads>& loads, CycleCursor cursor, std::int64_t limit)
{
    ReadBatch batch;
    batch.report.next = std::move(cursor);
    const bool has_free_unit = read_free_unit(transaction, tools, requests, batch);
    batch.report.is_done = true;
    if (!batch.report.next.is_tick && !has_free_unit && !tools.ledger->queue_room.has_some) return batch;
    Result<CycleCursor> known = find_metered_types(transaction, *tools.planner, std::move(batch.report.next));
    if (!known) return known.error();
    KnownSpecs specs;
    ClaimedBatch claimed = claim_batch(transaction, std::move(*known), limit, tools.settings->replica.value, specs);
    WaitNotes notes;
    Result<PreparedJobs> prepared = prepare_jobs(transaction, tools, requests, claimed, has_free_unit, notes);
    if (!prepared) return prepared.error();
    batch.report.next = std::move(claimed.next);
    batch.report.is_end = claimed.is_end;
    batch.report.overdue = prepared->overdue;
    batch.report.metering = std::ssize(prepared->metering);
    if (!prepared->gpu_rooms.empty()) batch.gpu_rooms = std::move(prepared->gpu_rooms);
    batch.jobs = std::move(prepared->ready);
    batch.undivided = std::move(prepared->undivided);
    DecidableJobs decidable = leave_out_gangs(transaction, batch.jobs);
    batch.report.waiting = decidable.waiting;
    batch.decided = std::move(decidable.jobs);
    append(notes, std::move(decidable.notes));
    read_input(transaction, tools, requests, loads, batch);
    claim_decided(transaction, tools.settings->replica.value, batch);
    if (are_only_claims(*prepared)) commit_without_wait(transaction);
    write_notes(transaction, *prepared, notes);
    batch.report.has_free_unit = has_free_unit;
    batch.report.is_done = batch.report.is_end || (!batch.report.next.is_tick && !has_free_unit);
    return batch;
}

} // namespace fathom::server
