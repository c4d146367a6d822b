#include "server/centers/session_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kOpenSession = R"sql(
    UPDATE center
    SET session_epoch = session_epoch + 1, session_replica = $3, agent_version = $4, facts = $5::jsonb,
        host_id = nullif($6, ''), connected_at = now(), last_seen_at = now(), state = 'online',
        previous_certificate_serial =
            CASE WHEN certificate_serial = $2 THEN NULL ELSE previous_certificate_serial END
    WHERE id = $1 AND revoked_at IS NULL AND $2 IN (certificate_serial, previous_certificate_serial)
    RETURNING name, session_epoch)sql";

constexpr const char* kStoreFacts = R"sql(
    UPDATE center SET facts = $3::jsonb
    WHERE id = $1 AND session_epoch = $2 AND facts IS DISTINCT FROM $3::jsonb RETURNING id)sql";

constexpr const char* kStoreTrustedAuthorities = R"sql(
    UPDATE center SET trusted_authorities = $3::text[]
    WHERE id = $1 AND session_epoch = $2 AND trusted_authorities IS DISTINCT FROM $3::text[])sql";

// In the order of their ids, so that two of these never wait for each other.
constexpr const char* kTouchSessions = R"sql(
    WITH before AS (SELECT c.id, c.state
                    FROM unnest($1::text[], $2::bigint[]) AS given (id, epoch)
                    JOIN center c ON c.id = given.id AND c.session_epoch = given.epoch AND c.revoked_at IS NULL
                    ORDER BY c.id FOR NO KEY UPDATE OF c)
    UPDATE center SET last_seen_at = now(), state = 'online' FROM before WHERE center.id = before.id
    RETURNING center.id, before.state <> 'online' AS has_returned)sql";

constexpr const char* kHeldSessions = R"sql(
    SELECT c.id FROM unnest($1::text[], $2::bigint[]) AS given (id, epoch)
    JOIN center c ON c.id = given.id AND c.session_epoch = given.epoch AND c.revoked_at IS NULL)sql";

constexpr const char* kHoldsSession =
    "SELECT 1 FROM center WHERE id = $1 AND session_epoch = $2 AND revoked_at IS NULL";

// One statement for the whole catalog. Rows that say nothing new are left alone, so that a reconnect
// neither writes nor wakes anybody up.
constexpr const char* kUpsertUnitTypes = R"sql(
    INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, memory_bytes_per_unit,
                           operators, facts)
    SELECT x.id, $1, x.name, x.resource_type, x.unit_count, x.cores_per_unit, x.memory_bytes_per_unit,
           ARRAY(SELECT DISTINCT o FROM jsonb_array_elements_text(x.operators) AS o ORDER BY o), x.facts
    FROM jsonb_to_recordset($2::jsonb) AS x(id text, name text, resource_type text, unit_count bigint,
         cores_per_unit bigint, memory_bytes_per_unit bigint, operators jsonb, facts jsonb)
    ON CONFLICT (center_id, name) DO UPDATE
    SET resource_type = excluded.resource_type, unit_count = excluded.unit_count,
        cores_per_unit = excluded.cores_per_unit, memory_bytes_per_unit = excluded.memory_bytes_per_unit,
        operators = excluded.operators, facts = excluded.facts, active = true, changed_at = now()
    WHERE (unit_type.resource_type, unit_type.unit_count, unit_type.cores_per_unit, unit_type.memory_bytes_per_unit,
           unit_type.operators, unit_type.facts, unit_type.active)
       IS DISTINCT FROM (excluded.resource_type, excluded.unit_count, excluded.cores_per_unit,
           excluded.memory_bytes_per_unit, excluded.operators, excluded.facts, true)
    RETURNING id)sql";

constexpr const char* kCountNames = R"sql(
    WITH earlier AS (SELECT name FROM unit_type WHERE center_id = $1),
         fresh AS (SELECT x.name FROM jsonb_to_recordset($2::jsonb) AS x(name text) EXCEPT SELECT name FROM earlier)
    SELECT CASE WHEN EXISTS (SELECT FROM fresh)
                THEN (SELECT count(*) FROM earlier) + (SELECT count(*) FROM fresh) ELSE 0 END)sql";

constexpr const char* kDeactivateUnitTypes = R"sql(
    UPDATE unit_type SET active = false, changed_at = now()
    WHERE center_id = $1 AND active
      AND name NOT IN (SELECT x.name FROM jsonb_to_recordset($2::jsonb) AS x(name text))
    RETURNING id)sql";

// What was seen in the future was seen before the clock went back: that says nothing. By clock_timestamp(), as another
// transaction may have begun after this one and ended already.
constexpr const char* kMarkSilent = R"sql(
    WITH silent AS (
        SELECT id, state, extract(epoch FROM now() - greatest(
            CASE WHEN last_seen_at <= clock_timestamp() THEN last_seen_at END, $1::timestamptz))::float8 AS silent_s
        FROM center WHERE state IN ('online', 'suspect') FOR UPDATE SKIP LOCKED)
    UPDATE center SET state = CASE WHEN silent_s >= $3 THEN 'lost' ELSE 'suspect' END
    FROM silent
    WHERE center.id = silent.id AND (silent_s >= $3 OR (silent.state = 'online' AND silent_s >= $2))
    RETURNING center.id, center.name, center.state, silent_s)sql";

struct GrantArrays {
    SqlArray centers;
    SqlArray epochs;
};

GrantArrays arrays_of(std::span<const SessionGrant> grants)
{
    GrantArrays given;
    for (const SessionGrant& grant : grants) {
        given.centers.add(grant.center_id.value);
        given.epochs.add(grant.epoch);
    }
    return given;
}

Json rows_of(const Catalog& catalog)
{
    Json rows = Json::array();
    for (const UnitTypeReport& unit_type : catalog.unit_types) {
        rows.push_back({{"id", UnitTypeId::make().value},
                        {"name", unit_type.name},
                        {"resource_type", unit_type.resource_type},
                        {"unit_count", unit_type.unit_count},
                        {"cores_per_unit", unit_type.cores_per_unit},
                        {"memory_bytes_per_unit", unit_type.memory_bytes_per_unit},
                        {"operators", unit_type.operators},
                        {"facts", unit_type.facts}});
    }
    return rows;
}

} // namespace

std::optional<SessionGrant> open_session(pqxx::transaction_base& transaction, const CenterId& center,
                                         const std::string& certificate_serial, const std::string& replica,
                                         const std::string& agent_version, const Json& facts,
                                         const std::string& host_id)
{
    const pqxx::result rows = transaction.exec_params(kOpenSession, center.value, certificate_serial, replica,
                                                      agent_version, facts.dump(), host_id);
    if (rows.empty()) return std::nullopt;
    return SessionGrant{center, rows[0]["name"].as<std::string>(), rows[0]["session_epoch"].as<std::int64_t>()};
}

void store_trusted_authorities(pqxx::transaction_base& transaction, const SessionGrant& grant,
                               const std::optional<std::vector<std::string>>& authorities)
{
    std::optional<std::string> array;
    if (authorities) array = sql_array(*authorities);
    transaction.exec_params(kStoreTrustedAuthorities, grant.center_id.value, grant.epoch, array);
}

HeldSessions touch_sessions(pqxx::transaction_base& transaction, std::span<const SessionGrant> grants)
{
    HeldSessions held;
    if (grants.empty()) return held;
    GrantArrays given = arrays_of(grants);
    for (const pqxx::row& row : transaction.exec_params(kTouchSessions, given.centers.take(), given.epochs.take())) {
        const CenterId center{row["id"].as<std::string>()};
        held.centers.insert(center);
        if (row["has_returned"].as<bool>()) held.returned.insert(center);
    }
    return held;
}

std::set<CenterId> held_sessions(pqxx::transaction_base& transaction, std::span<const SessionGrant> grants)
{
    std::set<CenterId> held;
    if (grants.empty()) return held;
    GrantArrays given = arrays_of(grants);
    for (const pqxx::row& row : transaction.exec_params(kHeldSessions, given.centers.take(), given.epochs.take()))
        held.insert({row["id"].as<std::string>()});
    return held;
}

bool holds_session(pqxx::transaction_base& transaction, const SessionGrant& grant)
{
    return !transaction.exec_params(kHoldsSession, grant.center_id.value, grant.epoch).empty();
}

bool store_facts(pqxx::transaction_base& transaction, const SessionGrant& grant, const Json& facts)
{
    return !transaction.exec_params(kStoreFacts, grant.center_id.value, grant.epoch, facts.dump()).empty();
}

std::int64_t count_unit_type_names(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog)
{
    return transaction.exec_params1(kCountNames, center.value, rows_of(catalog).dump())[0].as<std::int64_t>();
}

bool store_catalog(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog)
{
    const std::string rows = rows_of(catalog).dump();
    const bool changed = !transaction.exec_params(kUpsertUnitTypes, center.value, rows).empty();
    const bool removed = !transaction.exec_params(kDeactivateUnitTypes, center.value, rows).empty();
    return changed || removed;
}

std::vector<SilentCenter> mark_silent_centers(pqxx::transaction_base& transaction, Timestamp watched_since,
                                              std::chrono::seconds suspect_after, std::chrono::seconds lost_after)
{
    std::vector<SilentCenter> silent;
    for (const pqxx::row& row : transaction.exec_params(kMarkSilent, format_rfc3339(watched_since),
                                                        suspect_after.count(), lost_after.count())) {
        silent.push_back({CenterId{row["id"].as<std::string>()}, row["name"].as<std::string>(),
                          row["state"].as<std::string>(), row["silent_s"].as<double>()});
    }
    return silent;
}

} // namespace fathom::server
