#include "server/metering/speedup_store.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "server/rows/center_transfers.hpp"
#include "server/rows/newest_results.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <map>
#include <utility>
#include <vector>

namespace fathom::server {
namespace {

constexpr Statement kSelectUnitTypes{"metering_speedup_unit_types", R"sql(
    SELECT c.id AS center_id, c.name AS center, u.id, u.name, u.resource_type, u.facts
    FROM center c LEFT JOIN unit_type u ON u.center_id = c.id AND u.active
    WHERE (c.id = $1 OR c.name = $1) AND c.revoked_at IS NULL ORDER BY u.name)sql"};

constexpr Statement kSelectMeasured{"metering_speedup_measured", R"sql(
    SELECT r.* FROM )sql" FATHOM_MEASURED_PLACES("$1::text", "$2::text") R"sql( p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("$1::text", "p", "$3::bigint") R"sql( r
    WHERE p.unit_count = 1 AND )sql" FATHOM_IS_IN_USE("$1::text", "p") R"sql(
    ORDER BY r.parameters_key, r.newness)sql"};

constexpr Statement kSelectRate{"metering_speedup_rate", R"sql(
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.bytes / m.median_s) AS rate
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE (c.id = $1 OR c.name = $1) AND m.operator_id = 'network_fetch' AND m.void_reason = '' AND m.bytes > 0
      AND m.measured_at > now() - interval '8 weeks')sql"};

// A job with a raw prediction that measurements alone made, and with an end that says something of its speed.
#define FATHOM_JUDGED_RUNS                                                                                             \
    "prediction p JOIN unit_type u ON u.id = p.unit_type_id JOIN center c ON c.id = u.center_id "                      \
    "WHERE p.ended_at > now() - interval '90 days' AND p.outcome = 'succeeded' AND p.actual_run_s > 0 "                \
    "AND p.raw_prediction_s > 0 "

constexpr Statement kSelectAccuracy{"metering_speedup_accuracy", R"sql(
    SELECT c.id AS center_id, c.name AS center, u.resource_type, p.job_type, count(*) AS job_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.raw_prediction_s) AS raw_prediction_s,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s) AS actual_s,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s / p.raw_prediction_s) AS ratio
    FROM )sql" FATHOM_JUDGED_RUNS R"sql(
      AND ($1 = '' OR c.id = $1 OR c.name = $1) AND (c.id, p.job_type, u.resource_type) > ($2, $3, $4)
    GROUP BY c.id, p.job_type, u.resource_type
    ORDER BY c.id, p.job_type, u.resource_type LIMIT $5)sql"};

constexpr Statement kSelectRuns{"metering_speedup_runs", R"sql(
    SELECT u.resource_type <> 'cpu' AS is_device, count(*) AS job_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY p.actual_run_s / p.raw_prediction_s) AS ratio
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
    std::vector<std::string> ids;
    for (const pqxx::row& row : rows) {
        if (!row["id"].is_null()) ids.push_back(row["id"].as<std::string>()); // a center without unit types has a row
    }
    std::map<std::string, std::vector<MeasuredCompression>> compressions = select_compressions(transaction, ids);
    for (const pqxx::row& row : rows) {
        if (row["id"].is_null()) continue;
        const auto id = row["id"].as<std::string>();
        CenterUnitType unit_type{.name = row["name"].as<std::string>(),
                                 .resource_type = row["resource_type"].as<std::string>(),
                                 .measured = select_measured(transaction, id, operator_id),
                                 .facts = to_json_value(row["facts"]),
                                 .compressions = std::move(compressions[id])};
        found.unit_types.push_back(std::move(unit_type));
    }
    const pqxx::result rate = exec(transaction, kSelectRate, center);
    if (!rate[0]["rate"].is_null()) found.network_bytes = rate[0]["rate"].as<double>();
    for (const auto& [id, network] : select_node_networks(transaction, {rows[0]["center_id"].as<std::string>()}))
        found.between_hosts = network;
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
                       .raw_s = row["raw_prediction_s"].as<double>(),
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
            {"job_count", accuracy.job_count},         {"raw_prediction_s", accuracy.raw_s},
            {"actual_s", accuracy.actual_s},           {"ratio", accuracy.ratio}};
}

} // namespace fathom::server
