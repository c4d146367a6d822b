#include "server/sub_units/sub_units_list.hpp"

#include "core/base/parse_number.hpp"
#include "server/store/statement.hpp"
#include "server/sub_units/sub_units_rows.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kListKinds{"sub_units_list_kinds",
                               "SELECT kind FROM sub_unit_kind WHERE kind > $1 ORDER BY kind LIMIT $2"};

// One statement, so that what is free and what centers have are of one moment, and their sum is right.
constexpr Statement kSelectKind{
    "sub_units_select_kind",
    "SELECT " FATHOM_SUB_UNIT_HOLDING_COLUMNS
    ", (SELECT coalesce(sum(r.free_count), 0)::bigint FROM sub_unit_request r "
    "WHERE r.kind = h.kind AND r.free_count > 0) AS free "
    "FROM sub_unit_holding h JOIN center c ON c.id = h.center_id WHERE h.kind = $1 ORDER BY h.center_id"};

constexpr Statement kListRequests{
    "sub_units_list_requests", FATHOM_SUB_UNIT_REQUEST
    " WHERE ($1 = '' OR r.kind = $1) AND ($2 = '' OR c.id = $2 OR c.name = $2)"
    " AND (NOT $3::boolean OR r.state IN ('waiting', 'draining', 'giving')) AND ($4 = '' OR r.id < $4)"
    " ORDER BY r.id DESC LIMIT $5"};

constexpr Statement kListGrants{
    "sub_units_list_grants", FATHOM_SUB_UNIT_GRANT
    " WHERE ($1 = '' OR g.kind = $1) AND ($2 = '' OR $2 IN (a.id, a.name, b.id, b.name)) AND ($3 = '' OR g.id < $3)"
    " ORDER BY g.id DESC LIMIT $4"};

constexpr Statement kListEvents{"sub_units_list_events", R"sql(
    SELECT e.*, c.name AS center FROM sub_unit_event e JOIN center c ON c.id = e.center_id
    WHERE ($1 = '' OR e.kind = $1) AND ($2 = '' OR c.id = $2 OR c.name = $2) AND ($3::bigint IS NULL OR e.id < $3::bigint)
    ORDER BY e.id DESC LIMIT $4)sql"};

SubUnitEventRecord to_event(const pqxx::row& row)
{
    return {.id = row["id"].as<std::int64_t>(),
            .at = to_timestamp(row["at"]),
            .kind = row["kind"].as<std::string>(),
            .center_id = row["center_id"].as<std::string>(),
            .center = row["center"].as<std::string>(),
            .event = row["event"].as<std::string>(),
            .count = row["count"].as<std::int64_t>(),
            .held_count = row["held_count"].as<std::int64_t>(),
            .actor = row["actor"].as<std::string>(),
            .request_id = row["request_id"].as<std::string>(""),
            .grant_id = row["grant_id"].as<std::string>(""),
            .detail = row["detail"].as<std::string>()};
}

} // namespace

Page<SubUnitKindRecord> select_sub_unit_kinds(pqxx::transaction_base& transaction, std::int64_t size,
                                              const std::string& after)
{
    std::vector<SubUnitKindRecord> kinds;
    for (const pqxx::row& row : exec(transaction, kListKinds, after, size + 1))
        kinds.push_back({.kind = row["kind"].as<std::string>()});
    Page<SubUnitKindRecord> page =
        cut_page(std::move(kinds), size, [](const SubUnitKindRecord& kind) { return kind.kind; });
    for (SubUnitKindRecord& kind : page.items) {
        for (const pqxx::row& row : exec(transaction, kSelectKind, kind.kind)) {
            kind.free_count = row["free"].as<std::int64_t>();
            kind.holdings.push_back(to_sub_unit_holding(row));
        }
    }
    return page;
}

Page<SubUnitRequestRecord> select_sub_unit_requests(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                    std::int64_t size, const std::string& after)
{
    std::vector<SubUnitRequestRecord> requests;
    for (const pqxx::row& row :
         exec(transaction, kListRequests, filter.kind, filter.center, filter.is_open_only, after, size + 1))
        requests.push_back(to_sub_unit_request(row));
    return cut_page(std::move(requests), size, [](const SubUnitRequestRecord& one) { return one.id.value; });
}

Page<SubUnitGrantRecord> select_sub_unit_grants(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                std::int64_t size, const std::string& after)
{
    std::vector<SubUnitGrantRecord> grants;
    for (const pqxx::row& row : exec(transaction, kListGrants, filter.kind, filter.center, after, size + 1))
        grants.push_back(to_sub_unit_grant(row));
    return cut_page(std::move(grants), size, [](const SubUnitGrantRecord& one) { return one.id.value; });
}

Page<SubUnitEventRecord> select_sub_unit_events(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                std::int64_t size, const std::string& after)
{
    // `after` is the number of the page before's last event; the first page has none.
    std::vector<SubUnitEventRecord> events;
    for (const pqxx::row& row :
         exec(transaction, kListEvents, filter.kind, filter.center, parse_number<std::int64_t>(after), size + 1))
        events.push_back(to_event(row));
    return cut_page(std::move(events), size, [](const SubUnitEventRecord& one) { return std::to_string(one.id); });
}

} // namespace fathom::server
