#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/decide/probing/size_beyond_caches.hpp"
#include "core/model/job.hpp"
#include "server/identity/audit.hpp"
#include "server/probing/orders/probing_service.hpp"
#include "server/probing/tasks/full_benchmark_task.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

// Runs as people order them; tasks are in probing_service.cpp.
namespace fathom::server {
namespace {

std::string name_of(const std::vector<OperatorUse>& operators)
{
    std::string name;
    for (const OperatorUse& use : operators)
        name += (name.empty() ? "" : "+") + use.id;
    return std::string(utf8_prefix(name, kMaxJobNameBytes));
}

/// The order as it is at one unit type, where that is another: operators that measure memory and are named without a
/// size are measured beyond its caches. Data that go from one operator to the next keep their sizes.
std::optional<RunOrder> sized_for(const UnitTypeOffer& offer, const RunOrder& order, const OperatorLibrary& library)
{
    RunOrder sized = order;
    bool is_other = false;
    for (OperatorUse& use : sized.operators) {
        const OperatorManifest* const manifest = library.manifest(use.id, use.version);
        const bool is_free = use.parameters.empty() && use.label.empty() && use.inputs.empty();
        if (manifest == nullptr || !manifest->cache_rule || !is_free) continue;
        use.parameters = size_beyond_caches(*manifest, offer.memory);
        is_other = is_other || use.parameters != manifest->default_parameters();
    }
    return is_other ? std::optional(std::move(sized)) : std::nullopt;
}

} // namespace

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

/// The task that an order means, locked; not for a full benchmark.
Result<ProbeTaskRecord> ProbingService::task_of(pqxx::work& transaction, const Caller& caller,
                                                const RunOrder& order) const
{
    if (order.operators.empty()) return named_task(transaction, order);
    const OperatorLibraryPointer library = operators_->library();
    std::vector<FieldError> errors;
    const std::vector<OperatorUse> resolved = library->resolve(order.operators, "operators", errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the probe run asks for what is not there", std::move(errors)};
    const auto manifests = [&](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    const GenerationRule rule{.ratio = 1, .keeps_sizes = true, .most_operators = kMaxNamedOperators};
    NewProbeTask task;
    task.created_by = caller.actor;
    task.state = ProbeTaskState::kReleased;
    task.origin = "expert";
    task.document = generate_probe_tasks(name_of(resolved), resolved, manifests, rule).front();
    return find_or_insert_task(transaction, task).record;
}

/// Where an order wants to measure what: one task everywhere but for sizes that caches ask for, or for a full benchmark
/// each unit type's own.
Result<ProbingService::Plan> ProbingService::plan_runs(pqxx::work& transaction, const Caller& caller,
                                                       const RunOrder& order,
                                                       const std::vector<CenterAnswer>& answers) const
{
    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    const OperatorLibraryPointer library = operators_->library();
    std::optional<ProbeTaskRecord> task;
    if (!order.is_full_benchmark()) {
        Result<ProbeTaskRecord> found = task_of(transaction, caller, order);
        if (!found) return found.error();
        task = std::move(*found);
    }
    const std::vector<OperatorUse> operators = task ? task->document.operators : std::vector<OperatorUse>();
    Result<Selection> selection = select_unit_types(order.places, operators, offers, answers);
    if (!selection) return selection.error();
    Plan plan{{}, std::move(selection->left_out)};
    for (SelectedPlace& place : selection->places) {
        if (task) {
            ProbeTaskRecord here = *task;
            if (const std::optional<RunOrder> sized = sized_for(place.offer, order, *library)) {
                Result<ProbeTaskRecord> found = task_of(transaction, caller, *sized);
                if (!found) return found.error();
                here = std::move(*found);
            }
            plan.runs.push_back({std::move(place), std::move(here)});
            continue;
        }
        NewProbeTask benchmark;
        benchmark.created_by = caller.actor;
        benchmark.state = ProbeTaskState::kReleased;
        benchmark.origin = "default";
        benchmark.document = full_benchmark_task(full_benchmark_operators(*library, place.offer));
        if (!benchmark.document.operators.empty())
            plan.runs.push_back({std::move(place), find_or_insert_task(transaction, benchmark).record});
    }
    if (plan.runs.empty()) return Error{Errc::kInfeasible, "no center offers any operator of the library now"};
    return plan;
}

/// Queues one run, or notes why not; other errors than that pass through.
Result<void> ProbingService::queue_planned(pqxx::work& transaction, const Caller& caller, const PlannedRun& planned,
                                           RunPlace place, CreatedRuns& created) const
{
    const Result<ProbeRunId> run = queue_run(transaction, *writer_, planned.task, place);
    if (!run) {
        const Error error = run.error();
        if (error.code != Errc::kInfeasible) return error;
        created.left_out.push_back({planned.place.offer.center + "/" + planned.place.offer.name, error.detail});
        return {};
    }
    audit(transaction, caller.actor, "probe_run.create", run->value, caller.request_id,
          {{"probe_task_id", planned.task.id.value},
           {"unit_type_id", planned.place.offer.id.value},
           {"unit_count", place.unit_count},
           {"mode", to_string(place.mode)}});
    created.runs.push_back(select_run(transaction, run->value).value());
    return {};
}

Result<ProbingService::CreatedRuns> ProbingService::create_runs_in(pqxx::work& transaction, const Caller& caller,
                                                                   const RunOrder& order, const std::string& cause,
                                                                   const std::vector<CenterAnswer>& answers) const
{
    Result<Plan> planned = plan_runs(transaction, caller, order, answers);
    if (!planned) return planned.error();
    CreatedRuns created{{}, std::move(planned->left_out)};
    const std::int64_t seed = make_seed();
    std::string order_id;
    for (const PlannedRun& one : planned->runs) {
        for (const std::int64_t unit_count : one.place.unit_counts) {
            RunPlace place{.unit_type_id = one.place.offer.id,
                           .center_id = one.place.offer.center_id,
                           .unit_count = unit_count,
                           .mode = order.places.mode,
                           .selection = std::string(to_string(order.places.selection)),
                           .cause = cause,
                           .created_by = caller.actor,
                           .seed = seed,
                           .order_id = order_id,
                           .count_by = std::string(to_string(order.places.count_by)),
                           .able_unit_types = one.place.able_unit_types};
            const std::size_t before = created.runs.size();
            const Result<void> queued = queue_planned(transaction, caller, one, std::move(place), created);
            if (!queued) return queued.error();
            // A run that was joined belongs to the order that made it, and computes with that one's seed.
            const bool is_own = created.runs.size() > before && created.runs.back().document.value("seed", 0LL) == seed;
            if (order_id.empty() && is_own) order_id = created.runs.back().order_id;
        }
    }
    if (created.runs.empty())
        return Error{Errc::kInfeasible, "no place takes this probe now", std::move(created.left_out)};
    for (ProbeRunRecord& run : created.runs)
        run.result = Json();
    notify(transaction, "route", "");
    return created;
}

/// What a center must be able to do for an order; nothing is kept of it yet.
Result<std::vector<OperatorNeed>> ProbingService::needs_of(pqxx::work& transaction, const RunOrder& order) const
{
    const OperatorLibraryPointer library = operators_->library();
    std::vector<OperatorUse> uses;
    if (order.operators.empty()) {
        Result<ProbeTaskRecord> task = named_task(transaction, order);
        if (!task) return task.error();
        uses = std::move(task->document.operators);
    } else {
        std::vector<FieldError> errors;
        uses = library->resolve(order.operators, "operators", errors);
        if (!errors.empty())
            return Error{Errc::kInvalid, "the probe run asks for what is not there", std::move(errors)};
    }
    std::vector<OperatorNeed> needs;
    for (const OperatorUse& use : uses) {
        const OperatorManifest* manifest = library->manifest(use.id, use.version);
        const OperatorNeed need{use.id, manifest != nullptr && manifest->is_uploaded()};
        if (std::find(needs.begin(), needs.end(), need) == needs.end()) needs.push_back(need);
    }
    return needs;
}

asio::awaitable<Result<std::vector<CenterAnswer>>> ProbingService::ask_centers(const RunOrder& order)
{
    auto work = [&](pqxx::work& transaction) { return needs_of(transaction, order); };
    Result<std::vector<OperatorNeed>> needs = co_await database_->run(std::move(work));
    if (!needs) co_return needs.error();
    co_return co_await questions_.ask(order.places.centers, std::move(*needs), order.places.answer_wait);
}

asio::awaitable<Result<ProbingService::CreatedRuns>> ProbingService::create_runs(Caller caller, RunOrder order,
                                                                                 std::string cause)
{
    std::vector<CenterAnswer> answers;
    if (order.places.selection == RunSelection::kAsk) {
        Result<std::vector<CenterAnswer>> said = co_await ask_centers(order);
        if (!said) co_return said.error();
        answers = std::move(*said);
    }
    auto work = [&](pqxx::work& transaction) { return create_runs_in(transaction, caller, order, cause, answers); };
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
