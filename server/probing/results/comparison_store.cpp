#include "server/probing/results/comparison_store.hpp"

#include "server/rows/newest_results.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <map>
#include <span>
#include <tuple>

namespace fathom::server {
namespace {

constexpr const char* kSelectOfOrder = "SELECT id FROM probe_run WHERE order_id = $1 ORDER BY id LIMIT 1000";

constexpr const char* kSelectOfTask = R"sql(
    SELECT id FROM (SELECT DISTINCT ON (unit_type_id, unit_count) id FROM probe_run
                    WHERE probe_task_id = $1 AND mode = 'strong' AND state = 'succeeded'
                    ORDER BY unit_type_id, unit_count, id DESC) newest
    ORDER BY id LIMIT 1000)sql";

constexpr const char* kSelectResults = R"sql(
    SELECT m.operator_id, m.operator_version, m.parameters, m.parameters_key, m.unit_count, c.name AS center,
           u.name AS unit_type, m.unit_type_id, m.probe_run_id, m.median_s, m.ci_low_s, m.ci_high_s, m.error, m.sample_count
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE m.probe_run_id = ANY ($1::text[]) AND m.void_reason = '')sql";

// Of each place of these runs the newest results, whichever task and order they are of.
constexpr const char* kSelectNewestResults = R"sql(
    SELECT r.unit_type_id, r.unit_count, r.operator_id, r.operator_version, r.parameters_key, r.operations, r.bytes,
           r.median_s, r.ci_low_s, r.ci_high_s, r.error, r.tolerance, r.start_up_s, r.probe_run_id, r.measured_at,
           r.cache_verdict, r.newness
    FROM (SELECT DISTINCT m.unit_type_id, m.unit_count, m.operator_id, m.parameters_key, m.operator_version
          FROM measurement m WHERE m.probe_run_id = ANY ($1::text[]) AND m.void_reason = '') p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("p.unit_type_id", "p", "$2::bigint") R"sql( r
    ORDER BY r.unit_type_id, r.unit_count, r.operator_id, r.parameters_key, r.operator_version, r.newness)sql";

/// Unit type, count of units, operator, size, version: results of one such place count together.
using ResultPlace = std::tuple<std::string, std::int64_t, std::string, std::string, std::int64_t>;

ResultPlace result_place_of(const pqxx::row& row)
{
    return {row["unit_type_id"].as<std::string>(), row["unit_count"].as<std::int64_t>(),
            row["operator_id"].as<std::string>(), row["parameters_key"].as<std::string>(),
            row["operator_version"].as<std::int64_t>()};
}

ComparedResult to_result(const pqxx::row& row)
{
    return {.operator_id = row["operator_id"].as<std::string>(),
            .operator_version = row["operator_version"].as<std::int64_t>(),
            .parameters = to_json_value(row["parameters"]),
            .parameters_key = row["parameters_key"].as<std::string>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .center = row["center"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .probe_run_id = row["probe_run_id"].as<std::string>(),
            .median_s = row["median_s"].as<double>(),
            .ci_low_s = row["ci_low_s"].as<double>(),
            .ci_high_s = row["ci_high_s"].as<double>(),
            .error = row["error"].as<double>(),
            .sample_count = row["sample_count"].as<std::int64_t>(),
            .together = {}};
}

std::map<ResultPlace, MeasuredOperator> select_together(pqxx::transaction_base& transaction,
                                                        const std::vector<std::string>& runs)
{
    std::map<ResultPlace, MeasuredOperator> together;
    for_each_place(transaction.exec_params(kSelectNewestResults, sql_array(runs), kMaxResults),
                   [&together](std::span<const pqxx::row> newest_first) {
                       together.emplace(result_place_of(newest_first.front()), combine_rows(newest_first));
                   });
    return together;
}

RunReport report_of(pqxx::transaction_base& transaction, const pqxx::result& ids)
{
    std::vector<std::string> runs;
    for (const pqxx::row& row : ids)
        runs.push_back(row[0].as<std::string>());
    RunReport report{select_these_runs(transaction, runs), {}};
    const pqxx::result results = transaction.exec_params(kSelectResults, sql_array(runs));
    const std::map<ResultPlace, MeasuredOperator> together = select_together(transaction, runs);
    for (const pqxx::row& row : results) {
        const auto found = together.find(result_place_of(row));
        if (found == together.end()) continue; // found to be false since the statement before
        report.results.push_back(to_result(row));
        report.results.back().together = found->second;
    }
    return report;
}

} // namespace

RunReport select_order_report(pqxx::transaction_base& transaction, const std::string& order_id)
{
    return report_of(transaction, transaction.exec_params(kSelectOfOrder, order_id));
}

RunReport select_task_report(pqxx::transaction_base& transaction, const std::string& probe_task_id)
{
    return report_of(transaction, transaction.exec_params(kSelectOfTask, probe_task_id));
}

} // namespace fathom::server
