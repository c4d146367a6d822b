#pragma once

#include "core/decide/probing/generate_task.hpp"
#include "server/api/caller.hpp"
#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/orders/run_order.hpp"
#include "server/probing/tasks/probe_task_store.hpp"
#include "server/probing/tasks/probing_store.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/database.hpp"

#include <functional>

namespace fathom::server {

/// Probe tasks and runs as experts make them. Thread-safe. All must outlive it.
class ProbingService {
  public:
    ProbingService(Database& database, const OperatorsService& operators, ProbeJobWriter& writer, JobWorkSource& jobs)
        : database_(&database), operators_(&operators), writer_(&writer), jobs_(&jobs)
    {
    }

    /// What an expert composes (M6).
    struct TaskOrder {
        std::optional<ProbeTask> document{}; ///< empty: made from all operators of `from_job` (M3, M4)
        std::string job_type{};              ///< empty: the job's, when there is one
        std::string from_job{};              ///< whose operators it was picked from; empty: nobody's
        std::string name{};                  ///< of a task that is made from a job
        TaskForm form{TaskForm::kOneTask};   ///< of a task that is made from a job (M5)
    };
    /// Adds drafts, all or none: one, unless the form asks for several.
    /// @error kInvalid   an operator, version or parameter that the library does not have, or no such job.
    /// @error kConflict  the same task exists; the detail names it.
    asio::awaitable<Result<std::vector<ProbeTaskRecord>>> create_tasks(Caller caller, TaskOrder order);
    asio::awaitable<Result<Page<ProbeTaskRecord>>> list_tasks(TaskFilter filter, std::int64_t size, std::string after);
    /// @error kNotFound
    asio::awaitable<Result<ProbeTaskRecord>> get_task(std::string id);

    /// What is to happen to a task.
    enum class TaskStep {
        kTest,    ///< try it on one small unit
        kRelease, ///< put a task that passed into use
        kRetire,  ///< no longer use it
    };
    /// Whether the version that the caller saw may still be acted on (If-Match).
    using VersionCheck = std::function<bool(std::int64_t version)>;
    struct StepAnswer {
        bool is_stale{false}; ///< the version check said no; nothing was done
        ProbeTaskRecord task; ///< as it is now, unless stale
    };
    /// Takes a task a step further (M7).
    /// @error kNotFound
    /// @error kConflict    the task's state does not allow it; the detail says why, with the test's figure.
    /// @error kInfeasible  no unit can take the test; errors[] gives the reason for each unit type.
    asio::awaitable<Result<StepAnswer>> move_task(Caller caller, std::string id, TaskStep step, VersionCheck check);

    /// What came of an order.
    struct CreatedRuns {
        std::vector<ProbeRunRecord> runs; ///< at least one
        /// Where the order wanted to measure and does not: the place, "center/unit_type" or a center, and why.
        std::vector<FieldError> left_out{};
    };
    /// Queues the runs that an order means (M12, M13, M14); runs that are queued already are joined. Places whose
    /// center has no probe budget left, or that does not answer when it is asked (M13b), are left out. Operators, and
    /// the full benchmark of all, are an expert's direct command: they need no pre-test.
    /// @param cause  "command", or "schedule" when it is repeated
    /// @error kInvalid     unknown task, operators, centers or unit types.
    /// @error kConflict    the task is not released, and the order is not forced.
    /// @error kInfeasible  nowhere; errors[] gives the reason for each unit type. Nothing was done.
    asio::awaitable<Result<CreatedRuns>> create_runs(Caller caller, RunOrder order, std::string cause = "command");
    asio::awaitable<Result<Page<ProbeRunRecord>>> list_runs(RunFilter filter, std::int64_t size, std::string after);
    /// @error kNotFound
    asio::awaitable<Result<ProbeRunRecord>> get_run(std::string id);

  private:
    Result<ProbeTaskRecord> task_of(pqxx::work& transaction, const Caller& caller, const RunOrder& order) const;
    struct PlannedRun {
        SelectedPlace place;
        ProbeTaskRecord task;
    };
    struct Plan {
        std::vector<PlannedRun> runs;
        std::vector<FieldError> left_out;
    };
    Result<Plan> plan_runs(pqxx::work& transaction, const Caller& caller, const RunOrder& order,
                           const std::vector<CenterAnswer>& answers) const;
    Result<void> queue_planned(pqxx::work& transaction, const Caller& caller, const PlannedRun& planned, RunPlace place,
                               CreatedRuns& created) const;
    Result<std::vector<OperatorNeed>> needs_of(pqxx::work& transaction, const RunOrder& order) const;
    asio::awaitable<Result<std::vector<CenterAnswer>>> ask_centers(const RunOrder& order);
    Result<std::vector<ProbeTask>> documents_of(pqxx::work& transaction, TaskOrder& order) const;
    Result<std::vector<ProbeTaskRecord>> create_tasks_in(pqxx::work& transaction, const Caller& caller,
                                                         TaskOrder order) const;
    Result<ProbeTaskRecord> named_task(pqxx::work& transaction, const RunOrder& order) const;
    Result<void> test(pqxx::work& transaction, const Caller& caller, ProbeTaskRecord& task) const;
    Result<StepAnswer> move_task_in(pqxx::work& transaction, const Caller& caller, const std::string& id, TaskStep step,
                                    const VersionCheck& check) const;
    Result<CreatedRuns> create_runs_in(pqxx::work& transaction, const Caller& caller, const RunOrder& order,
                                       const std::string& cause, const std::vector<CenterAnswer>& answers) const;

    Database* database_;
    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
    JobWorkSource* jobs_;
    CenterQuestions questions_{*database_};
};

} // namespace fathom::server
