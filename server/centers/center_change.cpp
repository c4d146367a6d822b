#include "server/centers/center_change.hpp"

#include "server/identity/audit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kQuarantine{"centers_quarantine", R"sql(
    UPDATE center SET quarantined_at = now(), quarantine_reason = $2, quarantine_obstacle = '', version = version + 1
    WHERE id = $1 AND quarantined_at IS NULL RETURNING name)sql"};

constexpr Statement kRelease{"centers_release", R"sql(
    UPDATE center SET quarantined_at = NULL, quarantine_reason = '', quarantine_obstacle = '', quarantine_lifted_at = now(),
           version = version + 1
    WHERE id = $1 AND quarantined_at IS NOT NULL RETURNING name)sql"};

constexpr Statement kNoteObstacle{"centers_note_quarantine_obstacle", R"sql(
    UPDATE center SET quarantine_obstacle = $2, version = version + 1
    WHERE id = $1 AND quarantined_at IS NOT NULL AND quarantine_obstacle <> $2 RETURNING name)sql"};

/// What both have in common, once the row has changed.
void record(pqxx::transaction_base& transaction, const Caller& caller, const CenterId& center, const char* action,
            Json evidence)
{
    audit(transaction, caller.actor, action, center.value, caller.request_id, evidence);
    announce_center(transaction, center);
}

} // namespace

void announce_center(pqxx::transaction_base& transaction, const CenterId& center)
{
    notify(transaction, "center", center.value);
    notify(transaction, "catalog", center.value);
    notify(transaction, "route", "");
}

bool quarantine_center(pqxx::transaction_base& transaction, const Caller& caller, const CenterId& center,
                       const std::string& reason, Json evidence)
{
    const pqxx::result rows = exec(transaction, kQuarantine, center.value, reason);
    if (rows.empty()) return false;
    const auto name = rows[0]["name"].as<std::string>();
    evidence["center_name"] = name;
    evidence["reason"] = reason;
    record(transaction, caller, center, "center.quarantine", std::move(evidence));
    log_after_commit(LogLevel::kWarning, "center_quarantined",
                     {{"center", name}, {"center_id", center.value}, {"reason", reason}});
    return true;
}

void note_quarantine_obstacle(pqxx::transaction_base& transaction, const CenterId& center, const std::string& obstacle)
{
    const pqxx::result rows = exec(transaction, kNoteObstacle, center.value, obstacle);
    if (rows.empty()) return;
    announce_center(transaction, center);
    if (obstacle.empty()) return;
    log_after_commit(LogLevel::kWarning, "quarantined_center_not_probed",
                     {{"center", rows[0]["name"].c_str()}, {"reason", obstacle}});
}

bool release_center(pqxx::transaction_base& transaction, const Caller& caller, const CenterId& center, Json evidence)
{
    const pqxx::result rows = exec(transaction, kRelease, center.value);
    if (rows.empty()) return false;
    const auto name = rows[0]["name"].as<std::string>();
    evidence["center_name"] = name;
    record(transaction, caller, center, "center.release", std::move(evidence));
    log_after_commit(LogLevel::kInfo, "center_released", {{"center", name}, {"center_id", center.value}});
    return true;
}

} // namespace fathom::server
