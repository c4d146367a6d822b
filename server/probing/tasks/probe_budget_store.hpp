#pragma once

#include "core/base/id.hpp"
#include "core/decide/probing/probe_budget.hpp"
#include "server/store/transaction.hpp"

#include <vector>

/// What probes use of each center. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

/// The budget of a center, which nobody else can spend until the transaction ends: else two replicas could each see
/// room for one more probe.
/// @error kNotFound
Result<ProbeBudget> lock_probe_budget(pqxx::work& transaction, const CenterId& center);

/// Checks that a center's budget has room for a probe, under its lock.
/// @param wall_limit_s  after which the center ends it.
/// @param unit_count    0: the center chooses, and may take all units of its largest type.
/// @error kInfeasible  it has not; with the figures, when it will, and the way out.
/// @error kNotFound
Result<void> check_probe_budget(pqxx::work& transaction, const CenterId& center, double wall_limit_s,
                                std::int64_t unit_count);

struct CenterBudget {
    CenterId center_id;
    std::string center;
    ProbeBudget budget;
    std::int64_t largest_unit_count{1}; ///< of one unit type
};
/// Of all centers that are not revoked, ordered by name.
std::vector<CenterBudget> select_probe_budgets(pqxx::transaction_base& transaction);

struct CauseCount {
    std::string cause;
    std::int64_t count{};
};
/// Runs that have not ended, by cause; causes without any are left out.
std::vector<CauseCount> count_queued_runs(pqxx::transaction_base& transaction);

} // namespace fathom::server
