#include "server/metering/speedup_store.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "server/rows/newest_results.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <map>

namespace fathom::server {
namespace {

constexpr Statement kSelectUnitTypes{"metering_speedup_unit_types", R"sql(
    SELECT c.name AS center, u.id, u.name, u.resource_type, u.facts
    FROM center c LEFT JOIN unit_type u ON u.center_id = c.id AND u.active
    WHERE (c.id = $1 OR c.name = $1) AND c.revoked_at IS NULL ORDER BY u.name)sql"};

constexpr Statement kSelectMeasured{"metering_speedup_measured", R"sql(
    SELECT r.* FROM )sql" FATHOM_MEASURED_PLACES("$1::text") R"sql( p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("$1::text", "p", "$3::bigint") R"sql( r
    WHERE p.unit_count = 1 AND p.operator_id = $2 AND )sql" FATHOM_IS_IN_USE("$1::text", "p") R"sql(
    ORDER BY r.parameters_key, r.newness)sql"};

// What the data became is of the newest compression. Data that do not compress become a little larger; the model's
// fraction is at most 1.
constexpr Statement kSelectCompressions{"metering_speedup_compressions", R"sql(
    SELECT n.*, LEAST(f.fraction, 1) AS fraction
    FROM )sql" FATHOM_MEASURED_PLACES("$1::text") R"sql( p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("$1::text", "p", "$2::bigint") R"sql( n
         LEFT JOIN LATERAL (
             SELECT (o -> 'figures' ->> 'compressed_fraction')::float8 AS fraction
             FROM probe_run r CROSS JOIN LATERAL jsonb_array_elements(r.result -> 'operators') AS o
             WHERE r.id = n.probe_run_id AND n.newness = 1 AND o ->> 'id' = 'compression'
               AND n.operator_id = 'compression' AND o -> 'parameters' = COALESCE(n.drawn, n.parameters) LIMIT 1) f ON true
    WHERE p.operator_id IN ('compression', 'decompression') AND p.unit_count = 1
      AND )sql" FATHOM_IS_IN_USE("$1::text", "p") R"sql(
    ORDER BY n.operator_id, n.parameters_key, n.newness)sql"};

constexpr Statement kSelectRate{"metering_speedup_rate", R"sql(
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.bytes / m.median_s) AS rate
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE (c.id = $1 OR c.name = $1) AND m.operator_id = 'network_fetch' AND m.void_reason = '' AND m.bytes > 0
      AND m.measured_at > now() - interval '8 weeks')sql"};

// Between two hosts or more; of several sizes the nearest to 100 MB, as long messages are the model's. MPI's before
// what goes without: its bytes are those that a host sends. In a ring of P processes each sends (P - 1) / P of the
// bytes that tcp_allreduce counts, and so does each host, for neighbours are of one host where they can be.
constexpr Statement kSelectBetweenHosts{"metering_speedup_between_hosts", R"sql(
    SELECT m.operator_id, f.hosts, m.probe_run_id,
           m.bytes / m.median_s * CASE m.operator_id WHEN 'tcp_allreduce' THEN (f.processes - 1) / f.processes
                                                     ELSE 1 END AS rate
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
    JOIN probe_run r ON r.id = m.probe_run_id
    CROSS JOIN LATERAL (
        SELECT (o -> 'figures' ->> 'hosts')::float8 AS hosts, (o -> 'figures' ->> 'processes')::float8 AS processes
        FROM jsonb_array_elements(r.result -> 'operators') AS o
        WHERE o ->> 'id' = m.operator_id AND o -> 'parameters' = COALESCE(m.drawn, m.parameters) LIMIT 1) f
    WHERE (c.id = $1 OR c.name = $1) AND m.operator_id IN ('mpi_bandwidth', 'tcp_allreduce') AND m.void_reason = ''
      AND m.bytes > 0 AND m.median_s > 0 AND f.hosts BETWEEN 2 AND 1000000 AND f.processes BETWEEN 2 AND 1000000
      AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
    ORDER BY m.operator_id, abs(ln(m.bytes / 1e8)), m.measured_at DESC LIMIT 1)sql"};

// A job with a raw prediction that measurements alone made, and with an end that says something of its speed.
#define FATHOM_JUDGED_RUNS                                                                                             \
    "run_prediction p JOIN unit_type u ON u.id = p.unit_type_id JOIN center c ON c.id = u.center_id "                  \
    "WHERE p.ended_at > now() - interval '90 days' AND p.outcome = 'succeeded' AND p.actual_run_s > 0 "                \
    "AND p.promised_s > 0 "

constexpr Statement kSelectAccuracy{"metering_speedup_accuracy", R"sql(
    SELECT c.id AS center_id, c.name AS center, u.resource_type, p.job_type, count(*) AS job_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.promised_s) AS promised_s,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s) AS actual_s,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s / p.promised_s) AS ratio
    FROM )sql" FATHOM_JUDGED_RUNS R"sql(
      AND ($1 = '' OR c.id = $1 OR c.name = $1) AND (c.id, p.job_type, u.resource_type) > ($2, $3, $4)
    GROUP BY c.id, p.job_type, u.resource_type
    ORDER BY c.id, p.job_type, u.resource_type LIMIT $5)sql"};

constexpr Statement kSelectRuns{"metering_speedup_runs", R"sql(
    SELECT u.resource_type <> 'cpu' AS is_device, count(*) AS job_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s / p.promised_s) AS ratio
    FROM )sql" FATHOM_JUDGED_RUNS R"sql(
      AND (c.id = $1 OR c.name = $1)
    GROUP BY 1)sql"};

std::vector<MeasuredOperator> select_measured(pqxx::transaction_base& transaction, const std::string& unit_type_id,
                                              const std::string& operator_id)
{
    std::vector<MeasuredOperator> measured;
    for_each_place(exec(transaction, kSelectMeasured, unit_type_id, operator_id, kMaxResults),
                   [&measured](std::span<const pqxx::row> place) { measured.push_back(combine_rows(place)); });
    return measured;
}

/// The sizes at which both ways were measured and the fraction is known, in their order.
std::vector<MeasuredCompression> select_compressions(pqxx::transaction_base& transaction,
                                                     const std::string& unit_type_id)
{
    std::map<std::string, MeasuredCompression> compressions;
    std::vector<MeasuredCompression> both_ways;
    // Compressions come before decompressions.
    const auto add = [&](std::span<const pqxx::row> place) {
        const MeasuredOperator measured = combine_rows(place);
        if (measured.operator_id == "compression") {
            const auto fraction = place.front()["fraction"].as<double>(0);
            if (measured.bytes <= 0 || fraction <= 0) return;
            compressions[measured.parameters_key] = {.parameters_key = measured.parameters_key,
                                                     .bytes = measured.bytes,
                                                     .compression_s = measured.median_s,
                                                     .decompression_s = 0,
                                                     .fraction = fraction,
                                                     .probe_run_id = measured.probe_run_id};
            return;
        }
        const auto found = compressions.find(measured.parameters_key);
        if (found == compressions.end()) return;
        both_ways.push_back(found->second);
        both_ways.back().decompression_s = measured.median_s;
    };
    for_each_place(exec(transaction, kSelectCompressions, unit_type_id, kMaxResults), add);
    return both_ways;
}

struct AccuracyKey {
    std::string center_id;
    std::string job_type;
    std::string resource_type;
};

Result<AccuracyKey> parse_key(const std::string& after)
{
    if (after.empty()) return AccuracyKey{};
    const Json json = Json::parse(after, nullptr, false);
    bool is_good = json.is_array() && json.size() == 3 && !contains_nul(json);
    for (std::size_t i = 0; is_good && i < 3; ++i)
        is_good = json[i].is_string();
    if (!is_good) return Error(Errc::kInvalid, "the page_token is not one of this list");
    return AccuracyKey{json[0], json[1], json[2]};
}

} // namespace

std::optional<MeasuredCenter> select_measured_center(pqxx::transaction_base& transaction, const std::string& center,
                                                     const std::string& operator_id)
{
    const pqxx::result rows = exec(transaction, kSelectUnitTypes, center);
    if (rows.empty()) return std::nullopt;
    MeasuredCenter found;
    found.name = rows[0]["center"].as<std::string>();
    for (const pqxx::row& row : rows) {
        if (row["id"].is_null()) continue; // a center without unit types
        const auto id = row["id"].as<std::string>();
        CenterUnitType unit_type{.name = row["name"].as<std::string>(),
                                 .resource_type = row["resource_type"].as<std::string>(),
                                 .measured = select_measured(transaction, id, operator_id),
                                 .facts = to_json_value(row["facts"]),
                                 .compressions = select_compressions(transaction, id)};
        found.unit_types.push_back(std::move(unit_type));
    }
    const pqxx::result rate = exec(transaction, kSelectRate, center);
    if (!rate[0]["rate"].is_null()) found.network_bytes = rate[0]["rate"].as<double>();
    for (const pqxx::row& row : exec(transaction, kSelectBetweenHosts, center))
        found.between_hosts =
            NodeNetwork{row["operator_id"].as<std::string>(), row["rate"].as<double>(),
                        static_cast<std::int64_t>(row["hosts"].as<double>()), row["probe_run_id"].as<std::string>()};
    return found;
}

Result<Page<DeviceAccuracy>> select_device_accuracy(pqxx::transaction_base& transaction, const std::string& center,
                                                    std::int64_t size, const std::string& after)
{
    const Result<AccuracyKey> key = parse_key(after);
    if (!key) return key.error();
    std::vector<DeviceAccuracy> all;
    for (const pqxx::row& row :
         exec(transaction, kSelectAccuracy, center, key->center_id, key->job_type, key->resource_type, size + 1)) {
        all.push_back({.center_id = row["center_id"].as<std::string>(),
                       .center = row["center"].as<std::string>(),
                       .resource_type = row["resource_type"].as<std::string>(),
                       .job_type = row["job_type"].as<std::string>(),
                       .job_count = row["job_count"].as<std::int64_t>(),
                       .raw_s = row["promised_s"].as<double>(),
                       .actual_s = row["actual_s"].as<double>(),
                       .ratio = row["ratio"].as<double>()});
    }
    return cut_page(std::move(all), size, [](const DeviceAccuracy& one) {
        return Json{one.center_id, one.job_type, one.resource_type}.dump();
    });
}

std::vector<DeviceRuns> select_device_runs(pqxx::transaction_base& transaction, const std::string& center)
{
    std::vector<DeviceRuns> runs;
    for (const pqxx::row& row : exec(transaction, kSelectRuns, center))
        runs.push_back({row["is_device"].as<bool>(), row["job_count"].as<std::int64_t>(), row["ratio"].as<double>()});
    return runs;
}

Json to_json(const DeviceAccuracy& accuracy)
{
    return {{"center_id", accuracy.center_id},         {"center", accuracy.center},
            {"resource_type", accuracy.resource_type}, {"job_type", accuracy.job_type},
            {"job_count", accuracy.job_count},         {"promised_s", accuracy.raw_s},
            {"actual_s", accuracy.actual_s},           {"ratio", accuracy.ratio}};
}

} // namespace fathom::server
