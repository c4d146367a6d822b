#include "server/probing/probing_service.hpp"

#include "core/base/log.hpp"
#include "core/decide/generate_task.hpp"
#include "server/identity/audit.hpp"
#include "server/probing/run_queue.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

/// The default task looks at every operator, so it may take longer than a task that stands for one job (M7).
constexpr double kSurveyLimit_s = 30;
constexpr std::size_t kLongestName = 200;

ProbeTask survey_task(const OperatorLibrary& library)
{
    std::vector<OperatorUse> uses;
    for (const OperatorLibrary::Version* version : library.newest()) {
        OperatorUse use;
        use.id = version->manifest.id;
        use.version = version->manifest.version;
        use.parameters = version->manifest.default_parameters();
        uses.push_back(std::move(use));
    }
    ProbeTask task;
    task.name = "default";
    task.operators = std::move(uses);
    task.limit_s = kSurveyLimit_s;
    return task;
}

std::string name_of(const std::vector<OperatorUse>& operators)
{
    std::string name;
    for (const OperatorUse& use : operators)
        name += (name.empty() ? "" : "+") + use.id;
    return name.substr(0, kLongestName);
}

} // namespace

asio::awaitable<Result<ProbeTaskRecord>> ProbingService::create_task(Caller caller, ProbeTask document,
                                                                     std::string job_type)
{
    std::vector<FieldError> errors;
    document.operators = operators_->library()->resolve(document.operators, "document.operators", errors);
    if (!errors.empty())
        co_return Error{Errc::kInvalid, "the probe task asks for what is not there", std::move(errors)};
    NewProbeTask task;
    task.job_type = std::move(job_type);
    task.origin = "expert";
    task.document = std::move(document);
    task.created_by = caller.actor;
    auto work = [&](pqxx::work& transaction) -> Result<ProbeTaskRecord> {
        FoundTask found = find_or_insert_task(transaction, task);
        if (!found.created) return Error{Errc::kConflict, "the same probe task exists as " + found.record.id.value};
        audit(transaction, caller.actor, "probe_task.create", found.record.id.value, caller.request_id,
              {{"name", found.record.name}});
        return std::move(found.record);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<ProbeTaskRecord>>> ProbingService::list_tasks(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProbeTaskRecord>> {
        return select_tasks(transaction, size, after);
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

/// The task that an order means, locked.
Result<ProbeTaskRecord> ProbingService::task_of(pqxx::work& transaction, const Caller& caller,
                                                const RunOrder& order) const
{
    if (!order.probe_task_id.empty()) {
        std::optional<ProbeTaskRecord> task = lock_task(transaction, order.probe_task_id);
        if (task) return std::move(*task);
        return Error{Errc::kInvalid, "the probe run has 1 error", {{"probe_task_id", "is not a probe task"}}};
    }
    const OperatorLibraryPointer library = operators_->library();
    NewProbeTask task;
    task.created_by = caller.actor;
    if (order.operators.empty()) {
        task.origin = "default";
        task.document = survey_task(*library);
        if (task.document.operators.empty()) return Error{Errc::kInfeasible, "the operator library is empty"};
    } else {
        std::vector<FieldError> errors;
        const std::vector<OperatorUse> resolved = library->resolve(order.operators, "operators", errors);
        if (!errors.empty())
            return Error{Errc::kInvalid, "the probe run asks for what is not there", std::move(errors)};
        task.origin = "expert";
        const auto manifests = [&](std::string_view id, std::int64_t version) {
            return library->manifest(id, version);
        };
        const GenerationRule rule{.ratio = 1, .keeps_sizes = true, .most_operators = 64};
        task.document = generate_probe_tasks(name_of(resolved), resolved, manifests, rule).front();
    }
    return find_or_insert_task(transaction, task).record;
}

Result<std::vector<ProbeRunRecord>> ProbingService::create_runs_in(pqxx::work& transaction, const Caller& caller,
                                                                   const RunOrder& order) const
{
    const Result<ProbeTaskRecord> task = task_of(transaction, caller, order);
    if (!task) return task.error();
    const Result<std::vector<UnitTypeOffer>> places =
        select_unit_types(order.places, task->document.operators, unit_type_offers(transaction));
    if (!places) return places.error();
    std::vector<ProbeRunRecord> runs;
    for (const UnitTypeOffer& offer : *places) {
        const RunPlace place{.unit_type_id = offer.id,
                             .center_id = offer.center_id,
                             .unit_count = order.places.unit_count,
                             .selection = std::string(to_string(order.places.selection)),
                             .cause = "command",
                             .created_by = caller.actor};
        const Result<ProbeRunId> run = queue_run(transaction, *writer_, *task, place);
        if (!run) return run.error();
        audit(transaction, caller.actor, "probe_run.create", run->value, caller.request_id,
              {{"probe_task_id", task->id.value}, {"unit_type_id", offer.id.value}});
        runs.push_back(select_run(transaction, run->value).value());
        runs.back().result = Json();
    }
    notify(transaction, "route", "");
    return runs;
}

asio::awaitable<Result<std::vector<ProbeRunRecord>>> ProbingService::create_runs(Caller caller, RunOrder order)
{
    auto work = [&](pqxx::work& transaction) { return create_runs_in(transaction, caller, order); };
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
