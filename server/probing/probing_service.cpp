#include "server/probing/probing_service.hpp"

#include "core/base/log.hpp"
#include "core/decide/generate_task.hpp"
#include "server/identity/audit.hpp"
#include "server/probing/run_queue.hpp"
#include "server/probing/task_release.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// The default task looks at every operator, so it may take longer than a task that stands for one job (M7).
constexpr double kSurveyLimit_s = 30;
/// Fewest that still give a median with an interval: with all operators each sample counts.
constexpr std::int64_t kSurveyRepeats = 5;
constexpr std::size_t kLongestName = 200;

/// What a fetch takes changes with the hour (M20), so one look says little, and a server that is asked by all
/// units at once refuses some.
constexpr std::string_view kMeasuredOverTime = "network_fetch";

/// Uploaded operators are measured when somebody names them: their code is not ours.
bool is_surveyed(const OperatorManifest& manifest, const UnitTypeOffer& offer)
{
    return !manifest.is_uploaded() && manifest.id != kMeasuredOverTime && offer.runs({manifest.id});
}

/// All that a unit type can do; unit types that can do the same have the same task.
ProbeTask survey_task(const OperatorLibrary& library, const UnitTypeOffer& offer)
{
    ProbeTask task;
    task.name = "default";
    task.limit_s = kSurveyLimit_s;
    task.repeats = kSurveyRepeats;
    for (const OperatorLibrary::Version* version : library.newest()) {
        if (!is_surveyed(version->manifest, offer)) continue;
        OperatorUse use;
        use.id = version->manifest.id;
        use.version = version->manifest.version;
        use.parameters = version->manifest.default_parameters();
        task.operators.push_back(std::move(use));
    }
    return task;
}

std::string name_of(const std::vector<OperatorUse>& operators)
{
    std::string name;
    for (const OperatorUse& use : operators)
        name += (name.empty() ? "" : "+") + use.id;
    return name.substr(0, kLongestName);
}

/// How a task stands with its test, with the figure; completes "… is not released: ".
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
        const std::string name = order.name.empty() ? work.name.substr(0, kLongestName) : order.name;
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
        const Result<std::vector<UnitTypeOffer>> nowhere = select_unit_types({}, task.document.operators, offers);
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

/// A task that exists, and may be run, locked.
Result<ProbeTaskRecord> ProbingService::named_task(pqxx::work& transaction, const RunOrder& order) const
{
    if (!order.job_type.empty()) {
        std::optional<ProbeTaskRecord> task = lock_released_task(transaction, order.job_type);
        if (task) return std::move(*task);
        return Error{Errc::kInvalid, "the probe run has 1 error", {{"job_type", "has no released probe task"}}};
    }
    std::optional<ProbeTaskRecord> task = lock_task(transaction, order.probe_task_id);
    if (!task) return Error{Errc::kInvalid, "the probe run has 1 error", {{"probe_task_id", "is not a probe task"}}};
    if (task->state != ProbeTaskState::kReleased && !order.is_forced)
        return Error{Errc::kConflict, "probe task " + order.probe_task_id + " is not released: " + standing_of(*task)};
    return std::move(*task);
}

/// The task that an order means, locked; not for a survey.
Result<ProbeTaskRecord> ProbingService::task_of(pqxx::work& transaction, const Caller& caller,
                                                const RunOrder& order) const
{
    if (order.operators.empty()) return named_task(transaction, order);
    const OperatorLibraryPointer library = operators_->library();
    std::vector<FieldError> errors;
    const std::vector<OperatorUse> resolved = library->resolve(order.operators, "operators", errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the probe run asks for what is not there", std::move(errors)};
    const auto manifests = [&](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    const GenerationRule rule{.ratio = 1, .keeps_sizes = true, .most_operators = 64};
    NewProbeTask task;
    task.created_by = caller.actor;
    task.state = ProbeTaskState::kReleased;
    task.origin = "expert";
    task.document = generate_probe_tasks(name_of(resolved), resolved, manifests, rule).front();
    return find_or_insert_task(transaction, task).record;
}

/// Where an order wants to measure what: one task everywhere, or for a survey each unit type's own.
Result<std::vector<ProbingService::PlannedRun>> ProbingService::plan_runs(pqxx::work& transaction, const Caller& caller,
                                                                          const RunOrder& order) const
{
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    const bool is_survey = order.operators.empty() && order.probe_task_id.empty() && order.job_type.empty();
    std::optional<ProbeTaskRecord> task;
    if (!is_survey) {
        Result<ProbeTaskRecord> found = task_of(transaction, caller, order);
        if (!found) return found.error();
        task = std::move(*found);
    }
    const std::vector<OperatorUse> operators = task ? task->document.operators : std::vector<OperatorUse>();
    const Result<std::vector<UnitTypeOffer>> places = select_unit_types(order.places, operators, offers);
    if (!places) return places.error();
    std::vector<PlannedRun> runs;
    for (const UnitTypeOffer& offer : *places) {
        if (task) {
            runs.push_back({offer, *task});
            continue;
        }
        NewProbeTask survey;
        survey.created_by = caller.actor;
        survey.state = ProbeTaskState::kReleased;
        survey.origin = "default";
        survey.document = survey_task(*operators_->library(), offer);
        if (!survey.document.operators.empty())
            runs.push_back({offer, find_or_insert_task(transaction, survey).record});
    }
    if (runs.empty()) return Error{Errc::kInfeasible, "no center offers any operator of the library now"};
    return runs;
}

Result<ProbingService::CreatedRuns> ProbingService::create_runs_in(pqxx::work& transaction, const Caller& caller,
                                                                   const RunOrder& order,
                                                                   const std::string& cause) const
{
    const Result<std::vector<PlannedRun>> planned = plan_runs(transaction, caller, order);
    if (!planned) return planned.error();
    CreatedRuns created;
    const std::int64_t seed = make_seed();
    for (const PlannedRun& one : *planned) {
        const RunPlace place{.unit_type_id = one.offer.id,
                             .center_id = one.offer.center_id,
                             .unit_count = order.places.unit_count,
                             .selection = std::string(to_string(order.places.selection)),
                             .cause = cause,
                             .created_by = caller.actor,
                             .seed = seed,
                             .order_id = created.runs.empty() ? std::string() : created.runs.front().order_id};
        const Result<ProbeRunId> run = queue_run(transaction, *writer_, one.task, place);
        if (!run) {
            const Error error = run.error();
            if (error.code != Errc::kInfeasible) return error;
            created.left_out.push_back({one.offer.center + "/" + one.offer.name, error.detail});
            continue;
        }
        audit(transaction, caller.actor, "probe_run.create", run->value, caller.request_id,
              {{"probe_task_id", one.task.id.value}, {"unit_type_id", one.offer.id.value}});
        created.runs.push_back(select_run(transaction, run->value).value());
        created.runs.back().result = Json();
    }
    if (created.runs.empty())
        return Error{Errc::kInfeasible, "no place takes this probe now", std::move(created.left_out)};
    notify(transaction, "route", "");
    return created;
}

asio::awaitable<Result<ProbingService::CreatedRuns>> ProbingService::create_runs(Caller caller, RunOrder order,
                                                                                 std::string cause)
{
    auto work = [&](pqxx::work& transaction) { return create_runs_in(transaction, caller, order, cause); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<ProbeRunRecord>>> ProbingService::list_runs(RunFilter filter, std::int64_t size,
                                                                        std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProbeRunRecord>> {
        return select_runs(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProbeRunRecord>> ProbingService::get_run(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<ProbeRunRecord> {
        std::optional<ProbeRunRecord> run = select_run(transaction, id);
        if (!run) return Error{Errc::kNotFound, "no such probe run"};
        return std::move(*run);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
