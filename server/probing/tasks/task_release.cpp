#include "server/probing/tasks/task_release.hpp"

#include "server/probing/tasks/probe_naming.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::server {
namespace {

std::vector<std::string> ids_of(const std::vector<OperatorUse>& operators)
{
    std::vector<std::string> ids;
    for (const OperatorUse& use : operators)
        ids.push_back(use.id);
    return ids;
}

RunPlace place_at(const UnitTypeOffer& offer, const std::string& cause, const std::string& created_by)
{
    return {.unit_type_id = offer.id,
            .center_id = offer.center_id,
            .unit_count = 1,
            .selection = "catalog",
            .cause = cause,
            .created_by = created_by};
}

void log_state(const ProbeTaskRecord& task)
{
    log_after_commit(LogLevel::kInfo, "probe_task_state",
                     {{"probe_task_id", task.id.value},
                      {"job_type", task.job_type},
                      {"state", to_string(task.state)},
                      {"reason", task.state_reason}});
}

/// Unit types that a task still waits for, without the one where it was tried.
std::vector<std::string> others_awaited(const ProbeTaskRecord& task, const UnitTypeId& tried)
{
    std::vector<std::string> others = task.awaited_unit_types;
    std::erase(others, tried.value);
    return others;
}

Result<void> release(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task, const UnitTypeId& measured)
{
    // The pre-test was a measurement like any other: its own unit type has it already.
    const Result<QueuedProbes> queued =
        queue_released(transaction, writer, task, others_awaited(task, measured), task.awaited_cause);
    if (!queued) return queued.error();
    if (!queued->refusals.empty())
        log_after_commit(LogLevel::kInfo, "probes_refused",
                         {{"probe_task_id", task.id.value}, {"reason", queued->refusals.front()}});
    task.state = ProbeTaskState::kReleased;
    task.awaited_unit_types.clear();
    return {};
}

/// A task that was made for a job and took too long is measured at smaller sizes instead, where it would have been.
Result<void> scale_down(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                        const ProbeTask& smaller)
{
    NewProbeTask made;
    made.job_type = task.job_type;
    made.origin = task.origin;
    made.document = smaller;
    made.created_by = kOwnActor;
    made.from_job = task.from_job;
    ProbeTaskRecord scaled = find_or_insert_task(transaction, made).record;
    task.scaled_to = scaled.id.value;
    task.state_reason += "; smaller sizes are measured instead, by probe task " + scaled.id.value;
    if (scaled.state != ProbeTaskState::kDraft) return {};
    scaled.releases_itself = true;
    scaled.awaited_unit_types = task.awaited_unit_types;
    scaled.awaited_cause = task.awaited_cause;
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    const Result<ProbeRunId> run = begin_test_somewhere(transaction, writer, scaled, offers, scaled.awaited_unit_types);
    if (run) return {};
    if (run.error().code != Errc::kInfeasible) return run.error();
    scaled.state_reason = run.error().detail;
    update_task_state(transaction, scaled);
    return {};
}

/// The test could not be held there: tries the next place, or leaves the task a draft.
Result<void> try_elsewhere(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                           const UnitTypeId& tried)
{
    // Without the place that failed, so that this ends.
    task.awaited_unit_types = others_awaited(task, tried);
    if (task.awaited_unit_types.empty()) return {};
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    const Result<ProbeRunId> run = begin_test_somewhere(transaction, writer, task, offers, task.awaited_unit_types);
    if (run) return {};
    if (run.error().code != Errc::kInfeasible) return run.error();
    task.state_reason += "; " + run.error().detail;
    return {};
}

} // namespace

std::string standing_of(const ProbeTaskRecord& task)
{
    switch (task.state) {
    case ProbeTaskState::kDraft:
        return task.state_reason.empty() ? "it was never tested" : "its test did not end: " + task.state_reason;
    case ProbeTaskState::kTesting:
        return "its test has not ended";
    case ProbeTaskState::kTested:
        return "it passed its test and waits for its release";
    case ProbeTaskState::kReleased:
        return "it is released";
    case ProbeTaskState::kRefused:
        return "it was refused: " + task.state_reason;
    case ProbeTaskState::kRetired:
        return "it is retired";
    }
    return {};
}

const UnitTypeOffer* choose_test_place(const std::vector<UnitTypeOffer>& offers,
                                       const std::vector<OperatorUse>& operators, const std::vector<std::string>& among)
{
    const std::vector<std::string> ids = ids_of(operators);
    const auto rank = [](const UnitTypeOffer& offer) {
        return std::tuple(offer.units_in_use >= offer.unit_count, offer.cores_per_unit, offer.id.value);
    };
    const UnitTypeOffer* best = nullptr;
    for (const UnitTypeOffer& offer : offers) {
        const bool is_asked = among.empty() || std::find(among.begin(), among.end(), offer.id.value) != among.end();
        if (!is_asked || !offer.closed_reason.empty() || offer.unit_count < 1 || !offer.runs(ids)) continue;
        if (best == nullptr || rank(offer) < rank(*best)) best = &offer;
    }
    return best;
}

Result<ProbeRunId> begin_test(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                              const UnitTypeOffer& place, const std::string& created_by)
{
    Result<ProbeRunId> run = queue_run(transaction, writer, task, place_at(place, "pretest", created_by));
    if (!run) return run;
    task.state = ProbeTaskState::kTesting;
    task.state_reason.clear();
    task.pretest_run_id = run->value;
    update_task_state(transaction, task);
    notify(transaction, "route", "");
    log_state(task);
    return run;
}

Result<ProbeRunId> begin_test_somewhere(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                                        const std::vector<UnitTypeOffer>& offers, std::vector<std::string> among)
{
    Error refusal{Errc::kInfeasible, "no unit can take the pre-test of probe task " + task.id.value + " now"};
    while (!among.empty()) {
        const UnitTypeOffer* place = choose_test_place(offers, task.document.operators, among);
        if (place == nullptr) break;
        Result<ProbeRunId> run = begin_test(transaction, writer, task, *place, kOwnActor);
        if (run || run.error().code != Errc::kInfeasible) return run;
        refusal = run.error();
        std::erase(among, place->id.value);
    }
    return refusal;
}

Result<QueuedProbes> queue_released(pqxx::work& transaction, ProbeJobWriter& writer, const ProbeTaskRecord& task,
                                    const std::vector<std::string>& unit_types, const std::string& cause)
{
    QueuedProbes queued;
    if (unit_types.empty()) return queued;
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    for (const std::string& unit_type : unit_types) {
        const UnitTypeOffer* offer = find_offer(offers, unit_type);
        if (offer == nullptr) continue; // gone since somebody looked
        Result<ProbeRunId> run = queue_run(transaction, writer, task, place_at(*offer, cause, kOwnActor));
        if (run) {
            queued.runs.push_back(std::move(*run));
        } else if (run.error().code == Errc::kInfeasible) {
            queued.refusals.push_back(run.error().detail); // the others need not do without
        } else {
            return run.error();
        }
    }
    return queued;
}

Result<void> conclude_test(pqxx::work& transaction, ProbeJobWriter& writer, const EndingRun& run,
                           const TestVerdict& verdict)
{
    std::optional<ProbeTaskRecord> task = lock_task(transaction, run.probe_task_id.value);
    if (!task) return {};
    task->state_reason = verdict.reason;
    Result<void> done;
    switch (verdict.kind) {
    case TestVerdict::Kind::kPassed:
        task->pretest_s = verdict.wall_s;
        task->state = ProbeTaskState::kTested;
        if (task->releases_itself) done = release(transaction, writer, *task, run.unit_type_id);
        break;
    case TestVerdict::Kind::kRefused:
        task->state = ProbeTaskState::kRefused;
        task->pretest_s.reset();
        if (verdict.smaller && task->releases_itself && task->origin == "job")
            done = scale_down(transaction, writer, *task, *verdict.smaller);
        task->awaited_unit_types.clear();
        break;
    case TestVerdict::Kind::kNotConcluded:
        task->state = ProbeTaskState::kDraft;
        if (task->releases_itself && verdict.may_retry)
            done = try_elsewhere(transaction, writer, *task, run.unit_type_id);
        break;
    }
    if (!done || task->state == ProbeTaskState::kTesting) return done;
    update_task_state(transaction, *task);
    log_state(*task);
    return {};
}

} // namespace fathom::server
