#include "server/routing/unit_load_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectLoads{"routing_select_unit_loads", R"sql(
    SELECT unit_type_id, busy_share, used_share, noted_at, shadow_price FROM unit_load)sql"};
constexpr Statement kSelectLook{"routing_select_unit_load_look", R"sql(
    SELECT looked_at, newest_job FROM unit_load_look)sql"};
constexpr Statement kLockLook{"routing_lock_unit_load_look", R"sql(
    SELECT looked_at, newest_job FROM unit_load_look FOR UPDATE)sql"};
constexpr Statement kUpdateLook{"routing_update_unit_load_look", R"sql(
    UPDATE unit_load_look SET looked_at = $1::timestamptz, newest_job = $2)sql"};
constexpr Statement kCountUnitsInUse{"routing_count_units_of_load", R"sql(
    SELECT unit_type_id, sum(unit_count)::bigint AS units FROM attempt
    WHERE state <> 'ended' AND queued_until IS NULL GROUP BY unit_type_id)sql"};
constexpr Statement kCountJobsAfter{"routing_count_jobs_after", R"sql(
    SELECT count(*) FROM (SELECT 1 FROM job WHERE label = 'job' AND id > $1 LIMIT $2) newer)sql"};
constexpr const char* kNewestJobs = " FROM job WHERE label = 'job' ORDER BY id DESC LIMIT $1";
constexpr Statement kUpsertLoads{"routing_upsert_unit_loads", R"sql(
    INSERT INTO unit_load (unit_type_id, busy_share, used_share, noted_at, shadow_price)
    SELECT n.unit_type_id, n.busy_share, n.used_share, n.noted_at, n.shadow_price
    FROM unnest($1::text[], $2::float8[], $3::float8[], $4::timestamptz[], $5::float8[])
         AS n (unit_type_id, busy_share, used_share, noted_at, shadow_price)
         JOIN unit_type u ON u.id = n.unit_type_id
    ORDER BY n.unit_type_id
    ON CONFLICT (unit_type_id) DO UPDATE
    SET busy_share = excluded.busy_share, used_share = excluded.used_share, noted_at = excluded.noted_at,
        shadow_price = excluded.shadow_price)sql"};

std::optional<double> to_optional_number(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return field.as<double>();
}

void add(SqlArray& array, const std::optional<double>& number)
{
    if (number)
        array.add(*number);
    else
        array.add_null();
}

UnitLoadLook to_look(const pqxx::row& row)
{
    return {to_optional_timestamp(row["looked_at"]), row["newest_job"].as<std::string>()};
}

} // namespace

UnitLoadRows select_unit_loads(pqxx::work& transaction)
{
    UnitLoadRows rows;
    for (const pqxx::row& row : exec(transaction, kSelectLoads)) {
        rows[row["unit_type_id"].as<std::string>()] = {.busy_share = row["busy_share"].as<double>(),
                                                       .used_share = to_optional_number(row["used_share"]),
                                                       .noted_at = to_timestamp(row["noted_at"]),
                                                       .shadow_price = to_optional_number(row["shadow_price"])};
    }
    return rows;
}

UnitLoadLook select_unit_load_look(pqxx::work& transaction)
{
    return to_look(exec(transaction, kSelectLook)[0]);
}

std::map<std::string, std::int64_t> count_units_in_use(pqxx::work& transaction)
{
    std::map<std::string, std::int64_t> units;
    for (const pqxx::row& row : exec(transaction, kCountUnitsInUse))
        units[row["unit_type_id"].as<std::string>()] = row["units"].as<std::int64_t>();
    return units;
}

std::int64_t count_jobs_after(pqxx::work& transaction, const std::string& job_id, std::int64_t most)
{
    return exec(transaction, kCountJobsAfter, job_id, most)[0][0].as<std::int64_t>();
}

std::vector<WaitingJob> select_newest_jobs(pqxx::work& transaction, std::int64_t most)
{
    static const std::string select = std::string(kWaitingJobColumns) + kNewestJobs;
    std::vector<WaitingJob> jobs;
    KnownSpecs specs;
    for (const pqxx::row& row : transaction.exec_params(select, most)) {
        WaitingJob job = to_waiting_job(row, specs);
        if (!job.known->unreadable) jobs.push_back(std::move(job));
    }
    return jobs;
}

bool advance_unit_load_look(pqxx::work& transaction, const UnitLoadLook& seen, const UnitLoadLook& next)
{
    if (to_look(exec(transaction, kLockLook)[0]) != seen) return false;
    exec(transaction, kUpdateLook, next.looked_at ? std::optional(format_rfc3339(*next.looked_at)) : std::nullopt,
         next.newest_job);
    return true;
}

void upsert_unit_loads(pqxx::work& transaction, const UnitLoadRows& rows)
{
    if (rows.empty()) return;
    SqlArray ids;
    SqlArray busy_shares;
    SqlArray used_shares;
    SqlArray times;
    SqlArray shadow_prices;
    for (const auto& [id, row] : rows) {
        ids.add(id);
        busy_shares.add(row.busy_share);
        add(used_shares, row.used_share);
        times.add(format_rfc3339(row.noted_at));
        add(shadow_prices, row.shadow_price);
    }
    exec(transaction, kUpsertLoads, ids.take(), busy_shares.take(), used_shares.take(), times.take(),
         shadow_prices.take());
}

} // namespace fathom::server
