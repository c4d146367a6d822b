#include "server/probing/orders/probing_service.hpp"

#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/model/job.hpp"
#include "server/identity/audit.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// Why a task cannot take this step; empty when it can.
std::string obstacle_to(ProbingService::TaskStep step, const ProbeTaskRecord& task)
{
    using State = ProbeTaskState;
    bool is_allowed = false;
    switch (step) {
    case ProbingService::TaskStep::kTest:
        is_allowed = task.state == State::kDraft || task.state == State::kTested || task.state == State::kRefused;
        if (!is_allowed) return "cannot be tested: " + standing_of(task);
        break;
    case ProbingService::TaskStep::kRelease:
        if (task.state != State::kTested) return "cannot be released: " + standing_of(task);
        break;
    case ProbingService::TaskStep::kRetire:
        is_allowed = task.state != State::kTesting && task.state != State::kRetired;
        if (!is_allowed) return "cannot be retired: " + standing_of(task);
        break;
    }
    return {};
}

std::string action_of(ProbingService::TaskStep step)
{
    switch (step) {
    case ProbingService::TaskStep::kTest:
        return "probe_task.test";
    case ProbingService::TaskStep::kRelease:
        return "probe_task.release";
    case ProbingService::TaskStep::kRetire:
        return "probe_task.retire";
    }
    return "probe_task";
}

} // namespace

/// The documents that an order means, operators resolved. Takes over what the order leaves to its job.
Result<std::vector<ProbeTask>> ProbingService::documents_of(pqxx::work& transaction, TaskOrder& order) const
{
    std::vector<FieldError> errors;
    const OperatorLibraryPointer library = operators_->library();
    JobWork work;
    if (!order.from_job.empty()) {
        std::optional<JobWork> found = jobs_->find_work(transaction, order.from_job);
        if (!found) return Error{Errc::kInvalid, "the probe task has 1 error", {{"from_job", "is not a job"}}};
        work = std::move(*found);
        if (order.job_type.empty()) order.job_type = work.job_type;
    }
    std::vector<ProbeTask> documents;
    if (order.document) {
        documents.push_back(*order.document);
        documents[0].operators = library->resolve(order.document->operators, "document.operators", errors);
    } else if (work.operators.empty()) {
        errors.push_back({"from_job", "nobody knows the operators of this job; name them, or have it profiled"});
    } else {
        const std::vector<OperatorUse> resolved = library->resolve(work.operators, "operators", errors);
        const auto manifests = [&](std::string_view id, std::int64_t version) {
            return library->manifest(id, version);
        };
        const std::string name(order.name.empty() ? utf8_prefix(work.name, kMaxJobNameBytes) : order.name);
        if (errors.empty()) documents = generate_probe_tasks(name, resolved, manifests, {.form = order.form});
    }
    return value_or_errors(std::move(documents), std::move(errors), "the probe task");
}

Result<std::vector<ProbeTaskRecord>> ProbingService::create_tasks_in(pqxx::work& transaction, const Caller& caller,
                                                                     TaskOrder order) const
{
    Result<std::vector<ProbeTask>> documents = documents_of(transaction, order);
    if (!documents) return documents.error();
    std::vector<ProbeTaskRecord> added;
    for (ProbeTask& document : *documents) {
        const NewProbeTask task{.job_type = order.job_type,
                                .origin = "expert",
                                .document = std::move(document),
                                .created_by = caller.actor,
                                .state = ProbeTaskState::kDraft,
                                .from_job = order.from_job};
        FoundTask found = find_or_insert_task(transaction, task);
        if (!found.created) return Error{Errc::kConflict, "the same probe task exists as " + found.record.id.value};
        audit(transaction, caller.actor, "probe_task.create", found.record.id.value, caller.request_id,
              {{"name", found.record.name}});
        added.push_back(std::move(found.record));
    }
    return added;
}

asio::awaitable<Result<std::vector<ProbeTaskRecord>>> ProbingService::create_tasks(Caller caller, TaskOrder order)
{
    auto work = [&](pqxx::work& transaction) { return create_tasks_in(transaction, caller, order); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<ProbeTaskRecord>>> ProbingService::list_tasks(TaskFilter filter, std::int64_t size,
                                                                          std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProbeTaskRecord>> {
        return select_tasks(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProbeTaskRecord>> ProbingService::get_task(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<ProbeTaskRecord> {
        std::optional<ProbeTaskRecord> task = select_task(transaction, id);
        if (!task) return Error{Errc::kNotFound, "no such probe task"};
        return std::move(*task);
    };
    co_return co_await database_->run(std::move(work));
}

Result<void> ProbingService::test(pqxx::work& transaction, const Caller& caller, ProbeTaskRecord& task) const
{
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    const UnitTypeOffer* place = choose_test_place(offers, task.document.operators, {});
    if (place == nullptr) {
        // Asked again only for the reason at each place.
        const Result<Selection> nowhere = select_unit_types({}, task.document.operators, offers);
        if (!nowhere) return nowhere.error();
        return Error{Errc::kInfeasible, "no unit type takes this probe task now"};
    }
    // From here on a person decides, also about a task that was made for a job.
    task.releases_itself = false;
    task.awaited_unit_types.clear();
    const Result<ProbeRunId> run = begin_test(transaction, *writer_, task, *place, caller.actor);
    if (!run) return run.error();
    return {};
}

Result<ProbingService::StepAnswer> ProbingService::move_task_in(pqxx::work& transaction, const Caller& caller,
                                                                const std::string& id, TaskStep step,
                                                                const VersionCheck& check) const
{
    std::optional<ProbeTaskRecord> task = lock_task(transaction, id);
    if (!task) return Error{Errc::kNotFound, "no such probe task"};
    StepAnswer answer;
    answer.is_stale = !check(task->version);
    if (answer.is_stale) return answer;
    if (const std::string obstacle = obstacle_to(step, *task); !obstacle.empty())
        return Error{Errc::kConflict, "probe task " + id + " " + obstacle};
    if (step == TaskStep::kTest) {
        if (const Result<void> begun = test(transaction, caller, *task); !begun) return begun.error();
    } else {
        task->state = step == TaskStep::kRelease ? ProbeTaskState::kReleased : ProbeTaskState::kRetired;
        update_task_state(transaction, *task);
    }
    audit(transaction, caller.actor, action_of(step), id, caller.request_id, {{"name", task->name}});
    answer.task = std::move(*task);
    return answer;
}

asio::awaitable<Result<ProbingService::StepAnswer>> ProbingService::move_task(Caller caller, std::string id,
                                                                              TaskStep step, VersionCheck check)
{
    auto work = [&](pqxx::work& transaction) { return move_task_in(transaction, caller, id, step, check); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
