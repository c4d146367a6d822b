#pragma once

#include "server/api/caller.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/probe_ports.hpp"
#include "server/probing/probing_store.hpp"
#include "server/probing/run_selection.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Probe tasks and runs as experts make them. Thread-safe. All must outlive it.
class ProbingService {
  public:
    ProbingService(Database& database, const OperatorsService& operators, ProbeJobWriter& writer)
        : database_(&database), operators_(&operators), writer_(&writer)
    {
    }

    /// @error kInvalid   an operator, version or parameter that the library does not have.
    /// @error kConflict  the same task exists; the detail names it.
    asio::awaitable<Result<ProbeTaskRecord>> create_task(Caller caller, ProbeTask document, std::string job_type);
    asio::awaitable<Result<Page<ProbeTaskRecord>>> list_tasks(std::int64_t size, std::string after);
    /// @error kNotFound
    asio::awaitable<Result<ProbeTaskRecord>> get_task(std::string id);

    struct RunOrder {
        std::string probe_task_id;          ///< either this …
        std::vector<OperatorUse> operators; ///< … or these; neither: every operator at its default size
        SelectionOrder places;
    };
    /// Queues the runs that an order means, all or none (M12, M13, M14); runs that are queued already are joined.
    /// @error kInvalid     unknown task, operators, centers or unit types.
    /// @error kInfeasible  nowhere; errors[] gives the reason for each unit type.
    asio::awaitable<Result<std::vector<ProbeRunRecord>>> create_runs(Caller caller, RunOrder order);
    asio::awaitable<Result<Page<ProbeRunRecord>>> list_runs(RunFilter filter, std::int64_t size, std::string after);
    /// @error kNotFound
    asio::awaitable<Result<ProbeRunRecord>> get_run(std::string id);

  private:
    Result<ProbeTaskRecord> task_of(pqxx::work& transaction, const Caller& caller, const RunOrder& order) const;
    Result<std::vector<ProbeRunRecord>> create_runs_in(pqxx::work& transaction, const Caller& caller,
                                                       const RunOrder& order) const;

    Database* database_;
    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
