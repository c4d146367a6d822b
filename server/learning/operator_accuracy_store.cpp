#include "server/learning/operator_accuracy_store.hpp"

#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// The newest first, then those that are asked for: what is read is bounded whatever is asked.
constexpr Statement kSelectOperatorAccuracy{"learning_select_operator_accuracy", R"sql(
    WITH newest AS MATERIALIZED (
        SELECT * FROM operator_outcome WHERE ended_at > now() - interval '90 days' ORDER BY ended_at DESC LIMIT 20000)
    SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type, u.resource_type,
           n.operator_id, count(DISTINCT n.attempt_id) AS run_count, count(DISTINCT n.parameters_key) AS size_count,
           count(n.predicted_s) AS compared_count, count(*) FILTER (WHERE n.basis = 'measured') AS measured_count,
           count(*) FILTER (WHERE n.predicted_s IS NULL) AS unknown_count, sum(n.predicted_s) AS predicted_s,
           sum(n.actual_s) FILTER (WHERE n.predicted_s IS NOT NULL) AS actual_s,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY n.actual_s / n.predicted_s) AS median_ratio,
           avg((n.actual_s BETWEEN n.low_s AND n.high_s)::int)::float8 AS within_share,
           least(1, sum(n.similarity * n.actual_s) / sum(n.actual_s)) AS similarity
    FROM newest n JOIN unit_type u ON u.id = n.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE ($1 = '' OR n.operator_id = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
      AND ($3 = '' OR c.id = $3 OR c.name = $3)
    GROUP BY c.id, c.name, u.id, u.name, u.resource_type, n.operator_id
    ORDER BY c.name, u.name, u.id, n.operator_id)sql"};

std::optional<double> figure_of(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return field.as<double>();
}

Json figure_json(const std::optional<double>& figure)
{
    return figure ? Json(*figure) : Json();
}

} // namespace

std::vector<OperatorAccuracy> select_operator_accuracy(pqxx::transaction_base& transaction,
                                                       const OperatorAccuracyFilter& filter)
{
    std::vector<OperatorAccuracy> found;
    const pqxx::result rows =
        exec(transaction, kSelectOperatorAccuracy, filter.operator_id, filter.unit_type, filter.center);
    for (const pqxx::row& row : rows) {
        const auto text = [&](const char* name) { return row[name].as<std::string>(); };
        const auto count = [&](const char* name) { return row[name].as<std::int64_t>(); };
        found.push_back({.center_id = text("center_id"),
                         .center = text("center"),
                         .unit_type_id = text("unit_type_id"),
                         .unit_type = text("unit_type"),
                         .resource_type = text("resource_type"),
                         .operator_id = text("operator_id"),
                         .run_count = count("run_count"),
                         .size_count = count("size_count"),
                         .compared_count = count("compared_count"),
                         .measured_count = count("measured_count"),
                         .unknown_count = count("unknown_count"),
                         .predicted_s = figure_of(row["predicted_s"]),
                         .actual_s = figure_of(row["actual_s"]),
                         .median_ratio = figure_of(row["median_ratio"]),
                         .within_share = figure_of(row["within_share"]),
                         .similarity = row["similarity"].as<double>()});
    }
    return found;
}

Json to_json(const OperatorAccuracy& one)
{
    return {{"center_id", one.center_id},
            {"center", one.center},
            {"unit_type_id", one.unit_type_id},
            {"unit_type", one.unit_type},
            {"resource_type", one.resource_type},
            {"operator", one.operator_id},
            {"run_count", one.run_count},
            {"size_count", one.size_count},
            {"compared_count", one.compared_count},
            {"measured_count", one.measured_count},
            {"unknown_count", one.unknown_count},
            {"predicted_s", figure_json(one.predicted_s)},
            {"actual_s", figure_json(one.actual_s)},
            {"median_ratio", figure_json(one.median_ratio)},
            {"within_share", figure_json(one.within_share)},
            {"similarity", one.similarity}};
}

} // namespace fathom::server
