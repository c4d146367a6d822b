#include "server/centers/diversity_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kSelectDiversity = R"sql(
    WITH wanted AS (
        SELECT DISTINCT id FROM operator
        WHERE withdrawn_at IS NULL AND ($1 = '' OR id = $1) AND id > $2 ORDER BY id LIMIT $3),
    able AS (
        SELECT w.id AS operator_id, u.id, c.id AS center_id, c.name AS center, u.name, u.resource_type, u.unit_count,
               c.state = 'online' AND NOT c.drained AS is_open
        FROM unit_type_support s JOIN unit_type u ON u.id = s.unit_type_id JOIN center c ON c.id = u.center_id
        JOIN wanted w ON w.id = ANY (s.operators)
        WHERE u.active AND c.revoked_at IS NULL)
    SELECT w.id AS operator_id, count(a.id) AS unit_type_count, count(DISTINCT a.center_id) AS center_count,
           coalesce(sum(a.unit_count), 0)::bigint AS unit_count,
           coalesce(jsonb_agg(DISTINCT a.resource_type) FILTER (WHERE a.id IS NOT NULL), '[]') AS resource_types,
           coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'center', a.center, 'name', a.name,
                                                 'resource_type', a.resource_type, 'unit_count', a.unit_count,
                                                 'is_open', a.is_open)
                              ORDER BY a.center, a.name) FILTER (WHERE a.id IS NOT NULL AND $4), '[]') AS unit_types
    FROM wanted w LEFT JOIN able a ON a.operator_id = w.id
    GROUP BY w.id ORDER BY w.id)sql";

} // namespace

Page<OperatorDiversity> select_diversity_page(pqxx::transaction_base& transaction, const std::string& operator_id,
                                              UnitTypesListed listed, std::int64_t size, const std::string& after)
{
    const bool lists_unit_types = listed == UnitTypesListed::kYes;
    std::vector<OperatorDiversity> operators;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectDiversity, operator_id, after, size + 1, lists_unit_types)) {
        operators.push_back({.operator_id = row["operator_id"].as<std::string>(),
                             .unit_type_count = row["unit_type_count"].as<std::int64_t>(),
                             .center_count = row["center_count"].as<std::int64_t>(),
                             .unit_count = row["unit_count"].as<std::int64_t>(),
                             .resource_types = to_json_value(row["resource_types"]),
                             .unit_types = to_json_value(row["unit_types"])});
    }
    return cut_page(std::move(operators), size, [](const OperatorDiversity& one) { return one.operator_id; });
}

Json to_json(const OperatorDiversity& diversity)
{
    return {{"operator_id", diversity.operator_id},       {"unit_type_count", diversity.unit_type_count},
            {"center_count", diversity.center_count},     {"unit_count", diversity.unit_count},
            {"resource_types", diversity.resource_types}, {"unit_types", diversity.unit_types}};
}

} // namespace fathom::server
