#pragma once

#include "core/base/clock.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What is old enough to be removed, and its removal. All functions take the caller's transaction, block, and let
/// pqxx's exceptions through to Database::run.
namespace fathom::server {

/// One thing that may be removed, and where the next page goes on after it.
struct Due {
    std::string at; ///< as PostgreSQL writes it; empty: before all
    std::string id;
};

/// Attempts with output whose jobs ended before `before`; oldest first, after `after`.
std::vector<Due> select_output_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit);
/// Jobs that ended before `before`, with no output left and nothing that shares and quotas have yet to count.
std::vector<Due> select_jobs_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit);
/// Probe runs that ended before `before` and that nothing rests on: each of their measurements has a newer one for the
/// same place and size, their unit type has a newer result, and no finding or pre-test names them.
std::vector<Due> select_probe_runs_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit);

struct RemovedOutput {
    std::int64_t pieces{};
    bool is_complete{false}; ///< none is left
};
/// Removes at most `limit` pieces of an attempt's output; with the last ones the attempt is marked.
RemovedOutput remove_output(pqxx::work& transaction, const std::string& attempt, std::int64_t limit);
/// Removes ended jobs with all that hangs on them, but for events that go with their month (event_months.hpp); those
/// that somebody holds are left for the next time.
/// @return how many.
std::int64_t remove_jobs(pqxx::work& transaction, const std::vector<std::string>& jobs);
/// Removes probe runs with their measurements and jobs. @return how many.
std::int64_t remove_probe_runs(pqxx::work& transaction, const std::vector<std::string>& runs);
/// Removes the oldest findings about probes that no trust rests on: those that were dismissed before `before`, and
/// those of kinds that cost none. @return how many.
std::int64_t remove_findings(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes the oldest entries of the audit log. @return how many.
std::int64_t remove_audit(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes the oldest sums of what projects used. @return how many.
std::int64_t remove_usage(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes the oldest steps of units' balance loops, and units that have none left. @return how many steps.
std::int64_t remove_balance_steps(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes the oldest grants and requests of sub-units that ended before `before` and that nothing refers to, then the
/// record of their changes. A release of which something is free, and a grant that is being undone, have not ended.
/// Kinds that somebody changes now are left for the next time. @return how many rows, at most `limit`.
std::int64_t remove_sub_unit_rows(pqxx::work& transaction, Timestamp before, std::int64_t limit);

/// True for the one who may remove until the transaction ends: replicas take turns.
bool lock_retention(pqxx::work& transaction);

struct StoredBytes {
    std::string kind;
    double bytes{};
};
/// What tables take on the disk with their indexes, by kind; a look at file sizes.
std::vector<StoredBytes> select_stored_bytes(pqxx::work& transaction);

} // namespace fathom::server
