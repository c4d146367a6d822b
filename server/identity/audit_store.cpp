#include "server/identity/audit_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <limits>

namespace fathom::server {
namespace {

// A statement for each index: with all filters in one, `$2 = '' OR actor = $2` finds none.
#define FATHOM_AUDIT_COLUMNS                                                                                           \
    "SELECT a.id, a.at, a.actor, coalesce(t.name, c.name), a.action, a.subject, a.request_id, a.detail"                \
    " FROM audit_log a LEFT JOIN api_token t ON t.id = a.actor LEFT JOIN center c ON c.id = a.actor"
#define FATHOM_AUDIT_SELECT FATHOM_AUDIT_COLUMNS " WHERE a.id < $1 AND "
#define FATHOM_AUDIT_OTHERS                                                                                            \
    " AND ($3 = '' OR a.actor = $3) AND ($4 = '' OR a.action = $4) AND ($5 = '' OR a.subject = $5)"                    \
    " ORDER BY a.id DESC LIMIT $6"
constexpr Statement kListAll{"identity_list_audit", FATHOM_AUDIT_SELECT "$2 = ''" FATHOM_AUDIT_OTHERS};
constexpr Statement kListActor{"identity_list_audit_actor", FATHOM_AUDIT_SELECT "a.actor = $2" FATHOM_AUDIT_OTHERS};
constexpr Statement kListAction{"identity_list_audit_action", FATHOM_AUDIT_SELECT "a.action = $2" FATHOM_AUDIT_OTHERS};
constexpr Statement kListSubject{"identity_list_audit_subject",
                                 FATHOM_AUDIT_SELECT "a.subject = $2" FATHOM_AUDIT_OTHERS};

// Acts of some time are read along the index of times, in whose order they come: it is not quite that of the ids. A
// page begins after an act that is found by its id; one that retention has removed meanwhile has none after it.
constexpr Statement kListWithin{"identity_list_audit_within", FATHOM_AUDIT_COLUMNS
                                " WHERE a.at >= $6::timestamptz AND a.at < $7::timestamptz"
                                " AND a.at <= coalesce((SELECT l.at FROM audit_log l WHERE l.id = $1), 'infinity')"
                                " AND ($1 = 9223372036854775807"
                                " OR (a.at, a.id) < (SELECT l.at, l.id FROM audit_log l WHERE l.id = $1))"
                                " AND ($2 = '' OR a.actor = $2) AND ($3 = '' OR a.action = $3)"
                                " AND ($4 = '' OR a.subject = $4) ORDER BY a.at DESC, a.id DESC LIMIT $5"};

pqxx::result select_entries(pqxx::work& transaction, const AuditFilter& filter, std::int64_t below, std::int64_t limit)
{
    if (filter.since || filter.until) {
        const std::string since = filter.since ? format_rfc3339(*filter.since) : std::string("-infinity");
        const std::string until = filter.until ? format_rfc3339(*filter.until) : std::string("infinity");
        return exec(transaction, kListWithin, below, filter.actor, filter.action, filter.subject, limit, since, until);
    }
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
    return exec(transaction, statement, below, by, filter.actor, filter.action, filter.subject, limit);
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
