#include "server/probing/comparison_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

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
           u.name AS unit_type, m.probe_run_id, m.median_s, m.ci_low_s, m.ci_high_s, m.error, m.sample_count
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE m.probe_run_id = ANY ($1::text[]) AND m.void_reason = '')sql";

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
            .sample_count = row["sample_count"].as<std::int64_t>()};
}

RunReport report_of(pqxx::transaction_base& transaction, const pqxx::result& ids)
{
    std::vector<std::string> runs;
    for (const pqxx::row& row : ids)
        runs.push_back(row[0].as<std::string>());
    RunReport report{select_these_runs(transaction, runs), {}};
    for (const pqxx::row& row : transaction.exec_params(kSelectResults, sql_array(runs)))
        report.results.push_back(to_result(row));
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
