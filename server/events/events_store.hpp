#pragma once

#include "core/base/clock.hpp"
#include "server/events/job_event_log.hpp"
#include "server/identity/job_look.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// Rows of job events. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct JobEventRecord {
    std::int64_t id{};
    std::string job_id;
    Timestamp at{};
    std::string state;
    std::string cause;
    std::string evidence; ///< JSON text
    std::string owner;    ///< who submitted the job
    std::string project;  ///< of the job
};

Json to_json(const JobEventRecord& event);

/// Of whose jobs, and of which one; empty: of all.
struct EventFilter {
    JobScope scope{};
    std::string job_id{};
    std::int64_t max_id = std::numeric_limits<std::int64_t>::max(); ///< no event above it
};

/// Wakes who listens to the topic "event", with the id of the last one, and the router if that is wanted. `events` is
/// not empty.
void insert_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events, bool wakes_router);

/// Ascending ids above `after`, at most `limit`.
std::vector<JobEventRecord> select_job_events(pqxx::work& transaction, std::int64_t after, std::int64_t limit,
                                              const EventFilter& filter);

/// The highest id; 0 when there is none.
std::int64_t select_newest_event(pqxx::work& transaction);

/// The filter's job; empty: there is none, or it is not of its scope.
std::optional<LookedAtJob> select_visible_job(pqxx::transaction_base& transaction, const EventFilter& filter);

/// Where a reader that starts now begins so that it misses nothing that is being written: the newest id, or
/// the one before the first number that is missing among the last few (its transaction may yet commit).
std::int64_t select_safe_start(pqxx::work& transaction);

} // namespace fathom::server
