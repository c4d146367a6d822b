#include "server/sub_units/sub_units_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"
#include "server/sub_units/sub_units_rows.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kLockKind{"sub_units_lock_kind", "SELECT 1 FROM sub_unit_kind WHERE kind = $1 FOR UPDATE"};

constexpr Statement kInsertKind{"sub_units_insert_kind",
                                "INSERT INTO sub_unit_kind (kind) VALUES ($1) ON CONFLICT DO NOTHING"};

constexpr Statement kSelectMovingKinds{"sub_units_select_moving_kinds", R"sql(
    SELECT kind FROM sub_unit_kind k
    WHERE EXISTS (SELECT 1 FROM sub_unit_holding h
                  WHERE h.kind = k.kind AND (reached_version < version OR reported_count <> registered_count))
       OR EXISTS (SELECT 1 FROM sub_unit_request r
                  WHERE r.kind = k.kind AND (state IN ('waiting', 'draining', 'giving') OR free_count > 0))
    ORDER BY kind COLLATE "C")sql"};

constexpr Statement kSelectHoldings{"sub_units_select_holdings",
                                    FATHOM_SUB_UNIT_HOLDING " WHERE h.kind = $1 ORDER BY h.center_id"};

constexpr Statement kSelectCenterHoldings{"sub_units_select_center_holdings",
                                          FATHOM_SUB_UNIT_HOLDING " WHERE h.center_id = $1 ORDER BY h.kind"};

constexpr Statement kUpsertHolding{"sub_units_upsert_holding", R"sql(
    INSERT INTO sub_unit_holding (kind, center_id, unit_type, sub_units_per_unit, reported_count, registered_count,
                                  most_count, held_count, target_held, target_offered, version, reached_version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (kind, center_id) DO UPDATE
    SET unit_type = $3, sub_units_per_unit = $4, reported_count = $5, registered_count = $6, most_count = $7,
        held_count = $8, target_held = $9, target_offered = $10, version = $11, reached_version = $12)sql"};

constexpr Statement kSelectLiveRequests{
    "sub_units_select_live_requests", FATHOM_SUB_UNIT_REQUEST
    " WHERE r.kind = $1 AND (r.state IN ('waiting', 'draining', 'giving') OR r.free_count > 0) ORDER BY r.turn"};

constexpr Statement kSelectRequest{"sub_units_select_request", FATHOM_SUB_UNIT_REQUEST " WHERE r.id = $1"};

constexpr Statement kSelectRequestOf{"sub_units_select_request_of",
                                     FATHOM_SUB_UNIT_REQUEST " WHERE r.center_id = $1 AND r.message_id = $2"};

// By the index on center and id, from its end: requests are kept for long.
constexpr Statement kSelectLastAgentRequests{"sub_units_select_last_agent_requests", R"sql(
    SELECT r.*, c.name AS center FROM sub_unit_holding h JOIN center c ON c.id = h.center_id
    CROSS JOIN LATERAL (SELECT * FROM sub_unit_request
                        WHERE center_id = h.center_id AND kind = h.kind AND asked_by = h.center_id
                        ORDER BY id DESC LIMIT 1) r
    WHERE h.center_id = $1 ORDER BY r.kind)sql"};

constexpr Statement kInsertRequest{"sub_units_insert_request", R"sql(
    INSERT INTO sub_unit_request (id, kind, center_id, action, count, reason, asked_by, message_id, undo_of)
    VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, '')))sql"};

constexpr Statement kUpdateRequest{"sub_units_update_request", R"sql(
    UPDATE sub_unit_request
    SET granted_count = $2, free_count = $3, state = $4, version = $5, end_reason = $6, message_id = nullif($7, ''),
        ended_at = CASE WHEN $4 IN ('waiting', 'draining', 'giving') THEN NULL ELSE coalesce(ended_at, now()) END
    WHERE id = $1)sql"};

constexpr Statement kSelectMovingGrants{"sub_units_select_moving_grants", FATHOM_SUB_UNIT_GRANT
                                        " WHERE g.kind = $1 AND g.state = 'moving' ORDER BY g.id"};

constexpr Statement kSelectGrant{"sub_units_select_grant", FATHOM_SUB_UNIT_GRANT " WHERE g.id = $1"};

constexpr Statement kInsertGrant{"sub_units_insert_grant", R"sql(
    INSERT INTO sub_unit_grant (id, kind, release_id, request_id, from_center_id, to_center_id, count, version, undo_of)
    VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, nullif($9, '')))sql"};

constexpr Statement kUpdateGrant{"sub_units_update_grant", R"sql(
    UPDATE sub_unit_grant
    SET state = $2, end_reason = $3, ended_at = CASE WHEN $2 = 'moving' THEN NULL ELSE coalesce(ended_at, now()) END
    WHERE id = $1)sql"};

constexpr Statement kInsertEvent{"sub_units_insert_event", R"sql(
    INSERT INTO sub_unit_event (kind, center_id, event, count, held_count, actor, request_id, grant_id, detail)
    VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), nullif($8, ''), $9))sql"};

// The newest of them alone are read, by an index of these (sub_unit_event_of_actor).
constexpr Statement kCountLately{"sub_units_count_lately", R"sql(
    SELECT count(*) FROM (SELECT at FROM sub_unit_event
                          WHERE actor = $1 AND event IN ('asked', 'registered', 'refused')
                          ORDER BY id DESC LIMIT $2) newest
    WHERE at > now() - interval '10 minutes')sql"};

// The lock that the router takes before it places (server/routing/in_use/locked_units).
constexpr Statement kLockUnitType{"sub_units_lock_unit_type", R"sql(
    SELECT id, CASE WHEN active THEN unit_count ELSE 0 END AS offered
    FROM unit_type WHERE center_id = $1 AND name = $2 FOR NO KEY UPDATE)sql"};

// A statement of its own after the lock, so that it sees what the last holder of the lock committed.
constexpr Statement kSelectUse{"sub_units_select_use", R"sql(
    SELECT coalesce(sum(unit_count) FILTER (WHERE queued_until IS NULL), 0)::bigint AS used,
           coalesce(max(unit_count), 0)::bigint AS largest
    FROM attempt WHERE state <> 'ended' AND unit_type_id = $1)sql"};

constexpr Statement kSelectCenterId{"sub_units_select_center_id", "SELECT id FROM center WHERE id = $1 OR name = $1"};

constexpr Statement kCheckSession{"sub_units_check_session", R"sql(
    SELECT 1 FROM center WHERE id = $1 AND session_epoch = $2::bigint AND revoked_at IS NULL)sql"};

std::vector<SubUnitRequestRecord> requests_of(const pqxx::result& rows)
{
    std::vector<SubUnitRequestRecord> requests;
    for (const pqxx::row& row : rows)
        requests.push_back(to_sub_unit_request(row));
    return requests;
}

std::vector<SubUnitHoldingRecord> holdings_of(const pqxx::result& rows)
{
    std::vector<SubUnitHoldingRecord> holdings;
    for (const pqxx::row& row : rows)
        holdings.push_back(to_sub_unit_holding(row));
    return holdings;
}

std::optional<SubUnitRequestRecord> one_request(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_sub_unit_request(rows[0]);
}

} // namespace

bool lock_sub_unit_kind(pqxx::transaction_base& transaction, const std::string& kind)
{
    return !exec(transaction, kLockKind, kind).empty();
}

void insert_sub_unit_kind(pqxx::transaction_base& transaction, const std::string& kind)
{
    exec(transaction, kInsertKind, kind);
}

std::vector<std::string> select_moving_sub_unit_kinds(pqxx::transaction_base& transaction)
{
    std::vector<std::string> kinds;
    for (const pqxx::row& row : exec(transaction, kSelectMovingKinds))
        kinds.push_back(row[0].as<std::string>());
    return kinds;
}

std::vector<SubUnitHoldingRecord> select_sub_unit_holdings(pqxx::transaction_base& transaction, const std::string& kind)
{
    return holdings_of(exec(transaction, kSelectHoldings, kind));
}

std::vector<SubUnitHoldingRecord> select_center_sub_units(pqxx::transaction_base& transaction,
                                                          const std::string& center_id)
{
    return holdings_of(exec(transaction, kSelectCenterHoldings, center_id));
}

void upsert_sub_unit_holding(pqxx::transaction_base& transaction, const SubUnitHoldingRecord& holding)
{
    exec(transaction, kUpsertHolding, holding.kind, holding.center_id, holding.unit_type, holding.sub_units_per_unit,
         holding.reported_count, holding.registered_count, holding.most_count, holding.held_count, holding.target_held,
         holding.target_offered, holding.version, holding.reached_version);
}

std::vector<SubUnitRequestRecord> select_live_sub_unit_requests(pqxx::transaction_base& transaction,
                                                                const std::string& kind)
{
    return requests_of(exec(transaction, kSelectLiveRequests, kind));
}

void insert_sub_unit_request(pqxx::transaction_base& transaction, const SubUnitRequestRecord& request)
{
    exec(transaction, kInsertRequest, request.id.value, request.kind, request.center_id, request.action, request.count,
         request.reason, request.asked_by, request.message_id, request.undo_of);
}

void update_sub_unit_request(pqxx::transaction_base& transaction, const SubUnitRequestRecord& request)
{
    exec(transaction, kUpdateRequest, request.id.value, request.granted_count, request.free_count, request.state,
         request.version, request.end_reason, request.message_id);
}

std::optional<SubUnitRequestRecord> select_sub_unit_request(pqxx::transaction_base& transaction, const std::string& id)
{
    return one_request(exec(transaction, kSelectRequest, id));
}

std::optional<SubUnitRequestRecord> select_sub_unit_request_of(pqxx::transaction_base& transaction,
                                                               const std::string& center_id,
                                                               const std::string& message_id)
{
    return one_request(exec(transaction, kSelectRequestOf, center_id, message_id));
}

std::vector<SubUnitRequestRecord> select_last_agent_requests(pqxx::transaction_base& transaction,
                                                             const std::string& center_id)
{
    return requests_of(exec(transaction, kSelectLastAgentRequests, center_id));
}

std::vector<SubUnitGrantRecord> select_moving_sub_unit_grants(pqxx::transaction_base& transaction,
                                                              const std::string& kind)
{
    std::vector<SubUnitGrantRecord> grants;
    for (const pqxx::row& row : exec(transaction, kSelectMovingGrants, kind))
        grants.push_back(to_sub_unit_grant(row));
    return grants;
}

void insert_sub_unit_grant(pqxx::transaction_base& transaction, const SubUnitGrantRecord& grant)
{
    exec(transaction, kInsertGrant, grant.id.value, grant.kind, grant.release_id, grant.request_id,
         grant.from_center_id, grant.to_center_id, grant.count, grant.version, grant.undo_of);
}

void update_sub_unit_grant(pqxx::transaction_base& transaction, const SubUnitGrantRecord& grant)
{
    exec(transaction, kUpdateGrant, grant.id.value, grant.state, grant.end_reason);
}

std::optional<SubUnitGrantRecord> select_sub_unit_grant(pqxx::transaction_base& transaction, const std::string& id)
{
    const pqxx::result rows = exec(transaction, kSelectGrant, id);
    if (rows.empty()) return std::nullopt;
    return to_sub_unit_grant(rows[0]);
}

void insert_sub_unit_event(pqxx::transaction_base& transaction, const SubUnitEventRecord& event)
{
    exec(transaction, kInsertEvent, event.kind, event.center_id, event.event, event.count, event.held_count,
         event.actor, event.request_id, event.grant_id, event.detail);
}

bool is_beyond_sub_unit_pace(pqxx::transaction_base& transaction, const std::string& center_id)
{
    return exec(transaction, kCountLately, center_id, kMaxSubUnitRecords)[0][0].as<std::int64_t>() >=
           kMaxSubUnitRecords;
}

SubUnitTypeUse lock_unit_type_use(pqxx::transaction_base& transaction, const std::string& center_id,
                                  const std::string& unit_type)
{
    const pqxx::result locked = exec(transaction, kLockUnitType, center_id, unit_type);
    if (locked.empty()) return {};
    const pqxx::result use = exec(transaction, kSelectUse, locked[0]["id"].as<std::string>());
    return {.offered_units = locked[0]["offered"].as<std::int64_t>(),
            .used_units = use[0]["used"].as<std::int64_t>(),
            .largest_attempt = use[0]["largest"].as<std::int64_t>()};
}

std::string select_center_id(pqxx::transaction_base& transaction, const std::string& center)
{
    const pqxx::result rows = exec(transaction, kSelectCenterId, center);
    return rows.empty() ? std::string() : rows[0][0].as<std::string>();
}

bool is_center_session(pqxx::transaction_base& transaction, const std::string& center_id, std::int64_t epoch)
{
    return !exec(transaction, kCheckSession, center_id, epoch).empty();
}

} // namespace fathom::server
