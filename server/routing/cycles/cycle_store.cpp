#include "server/routing/cycles/cycle_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <unordered_map>

namespace fathom::server {
namespace {

constexpr Statement kInsertCycle{"routing_insert_cycle", R"sql(
    INSERT INTO schedule_cycle (id, decided_at, decided_by, job_count, start_count, currency, catalog, input, plan, bytes,
                                decision_s)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, length($8::bytea) + length($9::bytea), $10)
    ON CONFLICT (id) DO NOTHING)sql"};

constexpr Statement kSelectCycle{"routing_select_cycle", R"sql(
    SELECT id, decided_at, decided_by, job_count, start_count, decision_s, currency, catalog, bytes, input,
           plan
    FROM schedule_cycle WHERE id = $1)sql"};

constexpr Statement kSelectCycleHead{"routing_select_cycle_head", R"sql(
    SELECT id, decided_at, decided_by, job_count, start_count, decision_s, currency, catalog, bytes
    FROM schedule_cycle WHERE id = $1)sql"};

constexpr Statement kSelectPlaceNames{"routing_select_place_names", R"sql(
    SELECT u.id, c.name AS center, u.name AS unit_type FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE u.id = ANY ($1::text[]))sql"};

// Ids ascend with time, and are in the index behind it.
constexpr Statement kSelectCycles{"routing_select_cycles", R"sql(
    SELECT id, decided_at, decided_by, job_count, start_count, decision_s, currency, catalog, bytes
    FROM schedule_cycle
    WHERE decided_at >= $3::timestamptz AND decided_at < $4::timestamptz
      AND decided_at <= CASE WHEN $1 = '' THEN 'infinity' ELSE (SELECT decided_at FROM schedule_cycle WHERE id = $1) END
      AND ($1 = '' OR (decided_at, id) < (SELECT decided_at, id FROM schedule_cycle WHERE id = $1))
    ORDER BY decided_at DESC, id DESC LIMIT $2)sql"};

// A part that is in use is noted at most every ten minutes, and removed an hour after its last note at the earliest: so
// that whoever has noted it may refer to it in the same transaction.
constexpr Statement kTouchParts{"routing_touch_parts", R"sql(
    UPDATE schedule_part SET last_used_at = now()
    WHERE hash = ANY ($1::text[]) AND last_used_at < now() - interval '10 minutes')sql"};
constexpr Statement kMissingParts{"routing_missing_parts", R"sql(
    SELECT w.hash FROM unnest($1::text[]) WITH ORDINALITY AS w (hash, place)
    WHERE NOT EXISTS (SELECT 1 FROM schedule_part p WHERE p.hash = w.hash) ORDER BY w.place)sql"};
constexpr Statement kInsertParts{"routing_insert_parts", R"sql(
    INSERT INTO schedule_part (hash, body, bytes)
    SELECT hash, body, length(body) FROM unnest($1::text[], $2::bytea[]) AS n (hash, body)
    ON CONFLICT (hash) DO UPDATE SET last_used_at = now())sql"};
constexpr Statement kSelectParts{"routing_select_parts",
                                 "SELECT hash, body FROM schedule_part WHERE hash = ANY ($1::text[])"};

// By age, and then by size from the newest on: what would be beyond the limit goes.
constexpr Statement kRemoveCycles{"routing_remove_cycles", R"sql(
    DELETE FROM schedule_cycle WHERE id IN (
        SELECT id FROM (
            SELECT id, decided_at, start_count, sum(bytes) OVER (ORDER BY decided_at DESC, id DESC) AS kept
            FROM schedule_cycle) c
        WHERE decided_at < $1::timestamptz OR (start_count = 0 AND decided_at < $2::timestamptz)
           OR kept > greatest($3 - (SELECT coalesce(sum(bytes), 0) FROM schedule_part), $3 / 4)
        ORDER BY decided_at LIMIT $4))sql"};
constexpr Statement kRemoveParts{"routing_remove_parts", R"sql(
    DELETE FROM schedule_part
    WHERE last_used_at < least(now(), (SELECT min(decided_at) FROM schedule_cycle)) - interval '1 hour')sql"};

StoredCycle to_cycle(const pqxx::row& row)
{
    StoredCycle cycle;
    cycle.id = row["id"].as<std::string>();
    cycle.decided_at = to_timestamp(row["decided_at"]);
    cycle.decided_by = row["decided_by"].as<std::string>();
    cycle.job_count = row["job_count"].as<std::int64_t>();
    cycle.start_count = row["start_count"].as<std::int64_t>();
    cycle.decision_s = optional_of<double>(row["decision_s"]);
    cycle.currency = row["currency"].as<std::string>();
    cycle.catalog = row["catalog"].as<std::string>();
    cycle.bytes = row["bytes"].as<std::int64_t>();
    return cycle;
}

} // namespace

void insert_cycle(pqxx::work& transaction, const StoredCycle& cycle)
{
    exec(transaction, kInsertCycle, cycle.id, format_rfc3339(cycle.decided_at), cycle.decided_by, cycle.job_count,
         cycle.start_count, cycle.currency, cycle.catalog, pqxx::binarystring(cycle.input),
         pqxx::binarystring(cycle.plan), cycle.decision_s);
}

std::optional<StoredCycle> select_cycle(pqxx::work& transaction, const CycleId& id)
{
    const pqxx::result rows = exec(transaction, kSelectCycle, id.value);
    if (rows.empty()) return std::nullopt;
    StoredCycle cycle = to_cycle(rows[0]);
    cycle.input = pqxx::binarystring(rows[0]["input"]).str();
    cycle.plan = pqxx::binarystring(rows[0]["plan"]).str();
    return cycle;
}

std::optional<StoredCycle> select_cycle_head(pqxx::work& transaction, const CycleId& id)
{
    const pqxx::result rows = exec(transaction, kSelectCycleHead, id.value);
    if (rows.empty()) return std::nullopt;
    return to_cycle(rows[0]);
}

std::map<std::string, PlaceName> select_place_names(pqxx::work& transaction, const std::vector<std::string>& unit_types)
{
    std::map<std::string, PlaceName> names;
    for (const pqxx::row& row : exec(transaction, kSelectPlaceNames, sql_array(unit_types)))
        names[row["id"].as<std::string>()] = {row["center"].as<std::string>(), row["unit_type"].as<std::string>()};
    return names;
}

std::vector<StoredCycle> select_cycles(pqxx::work& transaction, const TimeRange& within, const std::string& after,
                                       std::int64_t limit)
{
    const TimeRangeText times = to_sql_text(within);
    std::vector<StoredCycle> cycles;
    for (const pqxx::row& row : exec(transaction, kSelectCycles, after, limit, times.since, times.until))
        cycles.push_back(to_cycle(row));
    return cycles;
}

std::vector<std::string> touch_parts(pqxx::work& transaction, const std::vector<std::string>& hashes)
{
    const std::string all = sql_array(hashes);
    exec(transaction, kTouchParts, all);
    std::vector<std::string> missing;
    for (const pqxx::row& row : exec(transaction, kMissingParts, all))
        missing.push_back(row[0].as<std::string>());
    return missing;
}

void insert_parts(pqxx::work& transaction, const std::vector<StoredPart>& parts)
{
    SqlArray hashes;
    SqlArray bodies;
    for (const StoredPart& part : parts) {
        hashes.add(part.hash);
        bodies.add_bytes(part.body);
    }
    exec(transaction, kInsertParts, hashes.take(), bodies.take());
}

std::vector<std::string> select_parts(pqxx::work& transaction, const std::vector<std::string>& hashes)
{
    std::unordered_map<std::string, std::string> bodies;
    for (const pqxx::row& row : exec(transaction, kSelectParts, sql_array(hashes)))
        bodies.emplace(row["hash"].as<std::string>(), pqxx::binarystring(row["body"]).str());
    std::vector<std::string> parts;
    for (const std::string& hash : hashes)
        parts.push_back(bodies[hash]);
    return parts;
}

std::int64_t remove_cycles(pqxx::work& transaction, const CycleLimits& limits)
{
    const std::string oldest = limits.oldest ? format_rfc3339(*limits.oldest) : std::string("-infinity");
    const auto removed = exec(transaction, kRemoveCycles, oldest, format_rfc3339(limits.oldest_idle), limits.most_bytes,
                              limits.most_removed)
                             .affected_rows();
    exec(transaction, kRemoveParts);
    return static_cast<std::int64_t>(removed);
}

} // namespace fathom::server
