#pragma once

#include "core/decide/probing/probe_plan.hpp"
#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/refresh/copies_refresh.hpp"
#include "server/probing/refresh/refresh_store.hpp"
#include "server/probing/tasks/probe_task_store.hpp"

#include <chrono>

namespace fathom::server {

/// Measures without being asked what has become stale, and what a center says has changed (M21). What is worth it is
/// decided by plan_probes(), from every operator that a unit type is measured with in a full benchmark and the released
/// task of every job type in use. So that the budget is not gone in its first hour, a day may take 1/30 of it for what
/// is stale, and a quarter of it for what has changed.
///
/// All are periodic tasks: one transaction a turn, one replica at a time. Thread-safe. All must outlive it.
class ProbeRefresh {
  public:
    ProbeRefresh(const OperatorsService& operators, ProbeJobWriter& writer, const Clock& clock,
                 std::chrono::seconds metering_period)
        : operators_(&operators), writer_(&writer), clock_(&clock), metering_period_(metering_period)
    {
    }

    /// Queues runs of what is stale, with the cause "schedule"; at centers where nothing is, copies side by side of
    /// what jobs need (refresh_copies), from the same share of the budget.
    Result<void> refresh(pqxx::work& transaction) const;
    /// Serves the centers that ask to be measured, with the cause "catalog_change": figures from before the request
    /// count as unknown. A request stays until all that it makes worth measuring is queued.
    Result<void> serve_requests(pqxx::work& transaction) const;
    /// Queues runs on unit types whose jobs go otherwise than predicted, with the cause "drift": figures from before
    /// that was seen count as unknown.
    Result<void> serve_drift(pqxx::work& transaction) const;

  private:
    /// What is to be measured, and why.
    struct Wish {
        CenterId center;
        std::string cause;
        std::optional<Timestamp> changed_at{}; ///< figures from before count as unknown; empty: only age counts
        std::optional<UnitTypeId> unit_type{}; ///< only this one
    };
    struct Item;
    struct Choices;
    struct Run;
    std::vector<TaskInUse> tasks_in_use(pqxx::work& transaction) const;
    /// Of the run time of jobs the share of those that need an operator, by operator.
    static std::map<std::string, double> operator_shares(const std::vector<TaskInUse>& tasks);
    /// Everything at a center that could be measured, as plan_probes() looks at it.
    Choices look(pqxx::work& transaction, const Wish& wish, const std::vector<TaskInUse>& tasks) const;
    /// The runs that measure the picks; tasks of full benchmarks are made where there is none yet.
    std::vector<Run> runs_of(pqxx::work& transaction, const Choices& choices,
                             const std::vector<std::size_t>& picks) const;
    /// Queues the picks. @return false when the center's budget stopped it.
    Result<bool> queue(pqxx::work& transaction, const Choices& choices, const std::vector<std::size_t>& picks,
                       const std::string& cause) const;
    Result<void> serve(pqxx::work& transaction, const ProbeRequest& request, const std::vector<TaskInUse>& tasks) const;
    /// Unit-seconds that runs of a cause may take at a center now. @error as lock_probe_budget()
    Result<double> allowance_s(pqxx::work& transaction, const CenterId& center, const std::string& cause,
                               double share) const;
    Result<void> refresh_center(pqxx::work& transaction, const CenterId& center,
                                const std::vector<TaskInUse>& tasks) const;
    /// @return true when nothing that is worth measuring is left.
    Result<bool> measure(pqxx::work& transaction, const Wish& wish, const std::vector<TaskInUse>& tasks) const;

    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
    const Clock* clock_;
    std::chrono::seconds metering_period_;
};

} // namespace fathom::server
