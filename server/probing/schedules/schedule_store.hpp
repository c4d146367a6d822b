#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of schedules of probes. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct ProbeScheduleKind {
    static constexpr std::string_view kPrefix = "psc";
};
using ProbeScheduleId = Id<ProbeScheduleKind>;

struct ProbeSchedule {
    ProbeScheduleId id;
    std::string name;
    std::string cron; ///< as parse_cron() reads it
    Json order;       ///< as parse_run_order() reads it
    bool is_enabled{true};
    std::int64_t version{1};
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> next_run_at{}; ///< empty while it is not enabled
    std::optional<Timestamp> last_run_at{};
    std::string last_error{}; ///< of the last run; empty when all its probes were queued
};

/// False when the name is taken.
bool insert_schedule(pqxx::transaction_base& transaction, const ProbeSchedule& schedule);
/// Ordered by name; `after` is a name.
Page<ProbeSchedule> select_schedules(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// By id or name.
std::optional<ProbeSchedule> select_schedule(pqxx::transaction_base& transaction, const std::string& key);
/// The same, and nobody else changes it until the transaction ends.
std::optional<ProbeSchedule> lock_schedule(pqxx::transaction_base& transaction, const std::string& key);
/// Writes what people may change; the version grows. False when the name is taken.
bool update_schedule(pqxx::transaction_base& transaction, const ProbeSchedule& schedule);
void delete_schedule(pqxx::transaction_base& transaction, const ProbeScheduleId& id);

/// Takes schedules whose time has come, the longest overdue first. Until `claimed_until` nobody else gets them.
std::vector<ProbeSchedule> claim_due_schedules(pqxx::transaction_base& transaction, Timestamp now,
                                               Timestamp claimed_until, std::int64_t limit);
/// Notes how a claimed schedule's run went and gives it back. Who changed it meanwhile has set its next run.
void finish_schedule_run(pqxx::transaction_base& transaction, const ProbeSchedule& claimed, Timestamp next_run_at,
                         Timestamp ran_at, const std::string& error);

Json to_json(const ProbeSchedule& schedule);

} // namespace fathom::server
