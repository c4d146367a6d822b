#pragma once

#include "core/base/clock.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

/// The partitions of job_event: one a month, by when jobs were submitted (docs/decisions/0021-events-by-month.md).
/// Months are named by their first day, "2026-12-01", and begin and end in UTC. All functions take the caller's
/// transaction, block, and let pqxx's exceptions through to Database::run. Who changes partitions has lock_retention().
namespace fathom::server {

/// Of the month of `now` and the next those that have no partition; the earlier one first.
std::vector<std::string> select_missing_event_months(pqxx::work& transaction, Timestamp now);
/// Months that ended at `before` or earlier and are to be dropped; the oldest first. One that was reduced to the events
/// of jobs that outlived it is due again when the last of these jobs is gone.
std::vector<std::string> select_due_event_months(pqxx::work& transaction, Timestamp before);

/// Makes the partition of a month, and moves events to it that came before it was there.
/// @return false where that is not possible now: others hold the table, or there are too many of these events.
bool make_event_month(pqxx::work& transaction, const std::string& month);
/// Drops the partition of a month. Events of jobs that are still there are kept, in a new partition of that month.
/// @return false where that is not possible now: others hold the table.
bool drop_event_month(pqxx::work& transaction, const std::string& month);

} // namespace fathom::server
