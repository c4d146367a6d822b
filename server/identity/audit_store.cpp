#include "server/identity/audit_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

// Along an index each, in the order of time, which is not quite that of the ids: with all filters in one statement,
// `$2 = '' OR actor = $2` finds none. The end of the range and the act that the page begins after are one comparison of
// rows: of two bounds that are not known when it plans, PostgreSQL takes a range to hold next to nothing, and sorts it.
#define FATHOM_AUDIT_LIST(by)                                                                                          \
    "SELECT a.id, a.at, a.actor, coalesce(t.name, c.name), a.action, a.subject, a.request_id, a.detail"                \
    " FROM audit_log a LEFT JOIN api_token t ON t.id = a.actor LEFT JOIN center c ON c.id = a.actor"                   \
    " WHERE " by " AND a.at >= $7::timestamptz AND (a.at, a.id) < ($8::timestamptz, $1)"                               \
    " AND ($3 = '' OR a.actor = $3) AND ($4 = '' OR a.action = $4) AND ($5 = '' OR a.subject = $5)"                    \
    " ORDER BY a.at DESC, a.id DESC LIMIT $6"
// One that retention has removed meanwhile has none after it, since those were older.
constexpr Statement kSelectBegin{"identity_audit_begin",
                                 "SELECT least(at, $2::timestamptz), CASE WHEN at < $2::timestamptz THEN id ELSE -1 END"
                                 " FROM audit_log WHERE id = $1"};
constexpr Statement kListAll{"identity_list_audit", FATHOM_AUDIT_LIST("$2 = ''")};
constexpr Statement kListActor{"identity_list_audit_actor", FATHOM_AUDIT_LIST("a.actor = $2")};
constexpr Statement kListAction{"identity_list_audit_action", FATHOM_AUDIT_LIST("a.action = $2")};
constexpr Statement kListSubject{"identity_list_audit_subject", FATHOM_AUDIT_LIST("a.subject = $2")};

/// What acts of a page are before.
struct AuditBegin {
    std::string at;
    std::int64_t id{};
};

pqxx::result select_entries(pqxx::work& transaction, const AuditFilter& filter, const AuditBegin& below,
                            std::int64_t limit)
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
    return exec(transaction, statement, below.id, by, filter.actor, filter.action, filter.subject, limit, times.since,
                below.at);
}

} // namespace

std::vector<AuditEntry> list_audit_log(pqxx::work& transaction, const AuditFilter& filter, std::int64_t before,
                                       std::int64_t limit)
{
    AuditBegin below{.at = to_sql_text(filter.within).until, .id = -1};
    if (before > 0) {
        const pqxx::result begin = exec(transaction, kSelectBegin, before, below.at);
        if (begin.empty()) return {};
        below = {.at = begin[0][0].as<std::string>(), .id = begin[0][1].as<std::int64_t>()};
    }
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
