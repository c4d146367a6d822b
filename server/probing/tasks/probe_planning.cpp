#include "server/probing/tasks/probe_planning.hpp"

#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/model/job.hpp"
#include "server/probing/tasks/probe_naming.hpp"
#include "server/probing/tasks/probing_store.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "server/store/database_now.hpp"

#include <algorithm>
#include <chrono>
#include <set>

namespace fathom::server {
namespace {

/// A refusal is not for ever: the unit may have been broken or loaded, or the operator has a new version.
constexpr auto kRefusalHolds = std::chrono::hours(24);
/// For so long what smaller sizes took stands for a job's own.
constexpr auto kScaledHolds = std::chrono::hours(24);

bool is_refusal_old(pqxx::work& transaction, const ProbeTaskRecord& task)
{
    return database_now(transaction) - task.state_changed_at > kRefusalHolds;
}

std::string named(const ProbeTaskRecord& task)
{
    return "its probe task " + task.id.value;
}

/// The job of the pre-test is at a center that fell silent: nobody knows when, or whether, it ends.
bool is_pretest_stuck(pqxx::work& transaction, const ProbeTaskRecord& task)
{
    const std::optional<ProbeRunRecord> run = select_run(transaction, task.pretest_run_id);
    return !run || run->state != "queued" || is_run_lost(transaction, run->id);
}

/// Steps from a task that took too long to the one of smaller sizes that is measured instead. @return whether it did
bool follow_scaled(pqxx::work& transaction, ProbeTaskRecord& task)
{
    constexpr int kMaxSteps = 8; // a quarter of the work each
    bool is_scaled = false;
    for (int step = 0; step < kMaxSteps && task.state == ProbeTaskState::kRefused && !task.scaled_to.empty(); ++step) {
        std::optional<ProbeTaskRecord> next = lock_task(transaction, task.scaled_to);
        if (!next) break;
        task = std::move(*next);
        is_scaled = true;
    }
    return is_scaled;
}

void add_awaited(ProbeTaskRecord& task, const std::vector<std::string>& unit_types)
{
    for (const std::string& id : unit_types) {
        if (std::find(task.awaited_unit_types.begin(), task.awaited_unit_types.end(), id) ==
            task.awaited_unit_types.end())
            task.awaited_unit_types.push_back(id);
    }
}

} // namespace

Result<ProbeTaskRecord> ProbePlanning::task_of(pqxx::work& transaction, const std::string& job_type,
                                               const std::vector<OperatorUse>& operators, const JobId* from_job) const
{
    if (operators.empty()) return Error{Errc::kInvalid, "a job without operators has no probe task"};
    std::vector<FieldError> errors;
    const OperatorLibraryPointer library = operators_->library();
    const std::vector<OperatorUse> resolved = library->resolve(operators, "operators", errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the job's operators are not in the library", std::move(errors)};

    NewProbeTask task;
    task.job_type = job_type;
    task.origin = "job";
    const auto manifests = [&](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    task.document =
        generate_probe_tasks(std::string(utf8_prefix(job_type, kMaxJobTypeBytes)), resolved, manifests).front();
    task.created_by = kOwnActor;
    if (from_job != nullptr) task.from_job = from_job->value;
    return find_or_insert_task(transaction, task).record;
}

Result<RequestedProbes> ProbePlanning::await_release(pqxx::work& transaction, ProbeTaskRecord task,
                                                     std::vector<std::string> unit_types,
                                                     const std::string& cause) const
{
    RequestedProbes requested{.runs = {}, .is_pretest = true, .obstacle = {}};
    add_awaited(task, unit_types);
    if (!task.releases_itself || task.state != ProbeTaskState::kTesting) task.awaited_cause = cause;
    task.releases_itself = true;
    if (task.state == ProbeTaskState::kTesting && !is_pretest_stuck(transaction, task)) {
        update_task_state(transaction, task);
        requested.runs.push_back({task.pretest_run_id});
        return requested;
    }
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    std::vector<std::string> among = task.awaited_unit_types;
    if (task.state == ProbeTaskState::kTesting) {
        // Not again where it is stuck, unless that center is back and nothing else is left.
        if (const auto stuck = select_run(transaction, task.pretest_run_id))
            std::erase(among, stuck->unit_type_id.value);
    }
    Result<ProbeRunId> run = begin_test_somewhere(transaction, *writer_, task, offers, std::move(among));
    if (!run) {
        if (run.error().code != Errc::kInfeasible) return run.error();
        requested.obstacle = run.error().detail;
        return requested;
    }
    requested.runs.push_back(std::move(*run));
    return requested;
}

Result<RequestedProbes> ProbePlanning::request_probes(pqxx::work& transaction, const std::string& job_type,
                                                      const std::vector<OperatorUse>& operators,
                                                      const std::vector<UnitTypeId>& unit_types)
{
    Result<ProbeTaskRecord> task = task_of(transaction, job_type, operators, nullptr);
    if (!task) return task.error();
    std::vector<std::string> ids;
    for (const UnitTypeId& unit_type : unit_types)
        ids.push_back(unit_type.value);
    RequestedProbes requested;
    if (const bool is_scaled = follow_scaled(transaction, *task); is_scaled) {
        // Its sizes are not the job's, which will never be measured: what is fresh of it is enough.
        const std::set<std::string> measured = select_measured_by(transaction, task->id, kScaledHolds);
        std::erase_if(ids, [&](const std::string& id) { return measured.contains(id); });
        if (ids.empty()) return requested;
    }
    switch (task->state) {
    case ProbeTaskState::kRetired:
        requested.obstacle = named(*task) + " is retired";
        return requested;
    case ProbeTaskState::kRefused:
        if (is_refusal_old(transaction, *task)) break;
        requested.obstacle = named(*task) + " was refused: " + task->state_reason;
        return requested;
    case ProbeTaskState::kDraft:
    case ProbeTaskState::kTesting:
        break;
    case ProbeTaskState::kTested:
        task->state = ProbeTaskState::kReleased;
        update_task_state(transaction, *task);
        [[fallthrough]];
    case ProbeTaskState::kReleased: {
        Result<QueuedProbes> queued = queue_released(transaction, *writer_, *task, ids, "arrival");
        if (!queued) return queued.error();
        requested.runs = std::move(queued->runs);
        if (requested.runs.empty() && !queued->refusals.empty()) requested.obstacle = queued->refusals.front();
        return requested;
    }
    }
    return await_release(transaction, std::move(*task), std::move(ids), "arrival");
}

Result<ProbeProgress> ProbePlanning::probe_progress(pqxx::work& transaction, const std::string& job_type)
{
    ProbeProgress progress;
    progress.is_pending = has_queued_run(transaction, job_type);
    if (progress.is_pending) return progress;
    const std::optional<ProbeTaskRecord> task = select_latest_task(transaction, job_type);
    if (task && task->state == ProbeTaskState::kRefused)
        progress.refusal = named(*task) + " was refused: " + task->state_reason;
    if (task && task->state == ProbeTaskState::kDraft && !task->state_reason.empty())
        progress.refusal = named(*task) + " could not be tried: " + task->state_reason;
    return progress;
}

Result<ProbeTaskId> ProbePlanning::keep_learned_task(pqxx::work& transaction, const LearnedTask& learned)
{
    Result<ProbeTaskRecord> task = task_of(transaction, learned.job_type, learned.operators, &learned.job);
    if (!task) return task.error();
    const ProbeTaskId id = task->id;
    const bool is_new = task->state == ProbeTaskState::kDraft && task->pretest_run_id.empty();
    if (!is_new) return id;
    std::vector<std::string> wanted;
    for (const OperatorUse& use : task->document.operators)
        wanted.push_back(use.id);
    std::vector<std::string> places;
    for (const UnitTypeOffer& offer : unit_type_offers(transaction)) {
        if (offer.closed_reason.empty() && offer.unit_count > 0 && offer.runs(wanted)) places.push_back(offer.id.value);
    }
    // Nowhere to try it now: it stays a draft until a job of its type arrives.
    if (places.empty()) return id;
    const Result<RequestedProbes> requested =
        await_release(transaction, std::move(*task), std::move(places), "learned");
    if (!requested) return requested.error();
    return id;
}

} // namespace fathom::server
