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

/// Rows of schedules of billing exports. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct ExportScheduleKind {
    static constexpr std::string_view kPrefix = "xsc";
};
using ExportScheduleId = Id<ExportScheduleKind>;

struct ExportSchedule {
    ExportScheduleId id;
    std::string name; ///< letters, digits, '.', '_', '-': files lie in a folder of this name
    std::string cron; ///< as parse_cron() reads it
    std::string format;
    std::string months;               ///< seen from due_at: "previous", "current", "all"
    Json parameters = Json::object(); ///< texts by name, of parse_export()
    std::string destination;          ///< as parse_export_destination() reads it
    bool is_enabled{true};
    std::int64_t version{1};
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> due_at{};      ///< what the next run is for; empty while it is not enabled
    std::optional<Timestamp> next_run_at{}; ///< later than due_at where runs for it have failed
    std::int64_t failures{};                ///< of runs for due_at
    std::optional<Timestamp> last_run_at{};
    std::string last_file{};  ///< where the last run that succeeded put its file
    std::string last_error{}; ///< of the last run; empty: it succeeded
};

/// False when the name is taken.
bool insert_export_schedule(pqxx::transaction_base& transaction, const ExportSchedule& schedule);
/// Ordered by name; `after` is a name.
Page<ExportSchedule> select_export_schedules(pqxx::transaction_base& transaction, std::int64_t size,
                                             const std::string& after);
/// By id or name.
std::optional<ExportSchedule> select_export_schedule(pqxx::transaction_base& transaction, const std::string& key);
/// The same, and nobody else changes it until the transaction ends.
std::optional<ExportSchedule> lock_export_schedule(pqxx::transaction_base& transaction, const std::string& key);
/// Writes what people may change, and when it runs next; the version grows. False when the name is taken.
bool update_export_schedule(pqxx::transaction_base& transaction, const ExportSchedule& schedule);
void delete_export_schedule(pqxx::transaction_base& transaction, const ExportScheduleId& id);
std::int64_t count_export_schedules(pqxx::transaction_base& transaction);

/// Takes the schedule that is longest overdue at `now`; nobody else gets it until `claimed_until`.
std::optional<ExportSchedule> claim_export_schedule(pqxx::transaction_base& transaction, Timestamp now,
                                                    Timestamp claimed_until);
/// Keeps a claim for longer.
void extend_export_claim(pqxx::transaction_base& transaction, const ExportScheduleId& id, Timestamp claimed_until);

/// How a run of a claimed schedule went, and when it runs next.
struct ExportRun {
    Timestamp ran_at{};
    Timestamp due_at{};
    Timestamp next_run_at{};
    std::string file{};  ///< empty: it failed
    std::string error{}; ///< empty: it succeeded
};
/// Notes it and gives the schedule back. Who changed it meanwhile has set its next run.
void finish_export_run(pqxx::transaction_base& transaction, const ExportSchedule& claimed, const ExportRun& run);

Json to_json(const ExportSchedule& schedule);

} // namespace fathom::server
