#pragma once

#include "core/base/clock.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>

/// Removal of small things by their age alone. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// Removes the oldest notes of copies of outputs that centers keep. @return how many.
std::int64_t remove_kept_outputs(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes what was learned of types of jobs before `before`, where no job of the type is kept, then probe tasks that
/// were made for such types and that nothing names any more; of those that only their runs name, the pre-tests are
/// forgotten, so that these may go as other runs do. @return how many rows were removed, at most `limit`.
std::int64_t remove_job_types(pqxx::work& transaction, Timestamp before, std::int64_t limit);
/// Removes the oldest reservations that ended or were cancelled before `before` and were charged for, then the oldest
/// maintenance windows. @return how many rows, at most `limit`.
std::int64_t remove_calendar_rows(pqxx::work& transaction, Timestamp before, std::int64_t limit);

} // namespace fathom::server
