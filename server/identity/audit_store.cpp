#include "server/identity/audit_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <limits>

namespace fathom::server {
namespace {

// Along an index each, in the order of time, which is not quite that of the ids: with all filters in one statement,
// `$2 = '' OR actor = $2` finds none. A page begins after an act that is found by its id; one that retention has
// removed meanwhile has none after it, since those were older.
#define FATHOM_AUDIT_LIST(by)                                                                                          \
    "SELECT a.id, a.at, a.actor, coalesce(t.name, c.name), a.action, a.subject, a.request_id, a.detail"                \
    " FROM audit_log a LEFT JOIN api_token t ON t.id = a.actor LEFT JOIN center c ON c.id = a.actor"                   \
    " WHERE " by " AND a.at >= $7::timestamptz AND a.at < $8::timestamptz"                                             \
    " AND a.at <= CASE WHEN $1 = 9223372036854775807 THEN 'infinity'"                                                  \
    " ELSE (SELECT l.at FROM audit_log l WHERE l.id = $1) END"                                                         \
    " AND ($1 = 9223372036854775807 OR (a.at, a.id) < (SELECT l.at, l.id FROM audit_log l WHERE l.id = $1))"           \
    " AND ($3 = '' OR a.actor = $3) AND ($4 = '' OR a.action = $4) AND ($5 = '' OR a.subject = $5)"                    \
    " ORDER BY a.at DESC, a.id DESC LIMIT $6"
constexpr Statement kListAll{"identity_list_audit", FATHOM_AUDIT_LIST("$2 = ''")};
constexpr Statement kListActor{"identity_list_audit_actor", FATHOM_AUDIT_LIST("a.actor = $2")};
constexpr Statement kListAction{"identity_list_audit_action", FATHOM_AUDIT_LIST("a.action = $2")};
constexpr Statement kListSubject{"identity_list_audit_subject", FATHOM_AUDIT_LIST("a.subject = $2")};

pqxx::result select_entries(pqxx::work& transaction, const AuditFilter& filter, std::int64_t below, std::int64_t limit)
{
    const TimeRangeText times = to_sql_text(filter.within);
    Statement statement = kListAll;
    std::string by;
    // The subject is what tells most apart, the action least.
    if (!filter.subject.empty()) {
        statement = kListSubject;
        by = filter.subject;
    } else if (!filter.actor.empty()) {
        statement = kListActor;
        by = filter.actor;
    } else if (!filter.action.empty()) {
        statement = kListAction;
        by = filter.action;
    }
    return exec(transaction, statement, below, by, filter.actor, filter.action, filter.subject, limit, times.since,
                times.until);
}

} // namespace

std::vector<AuditEntry> list_audit_log(pqxx::work& transaction, const AuditFilter& filter, std::int64_t before,
                                       std::int64_t limit)
{
    const std::int64_t below = before > 0 ? before : std::numeric_limits<std::int64_t>::max();
    std::vector<AuditEntry> entries;
    for (const pqxx::row& row : select_entries(transaction, filter, below, limit))
        entries.push_back({.id = row[0].as<std::int64_t>(),
                           .at = to_timestamp(row[1]),
                           .actor = row[2].as<std::string>(),
                           .actor_name = row[3].is_null() ? std::nullopt : std::optional(row[3].as<std::string>()),
                           .action = row[4].as<std::string>(),
                           .subject = row[5].as<std::string>(),
                           .request_id = row[6].as<std::string>(),
                           .detail = to_json_value(row[7])});
    return entries;
}

} // namespace fathom::server
