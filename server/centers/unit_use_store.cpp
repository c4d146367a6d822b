#include "server/centers/unit_use_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// Live attempts are counted once for all unit types; the sums are over all rows, whatever the limit.
constexpr const char* kSelectUnitUse = R"sql(
    WITH in_use AS (
        SELECT unit_type_id, sum(unit_count)::bigint AS units FROM attempt
        WHERE state <> 'ended' AND queued_until IS NULL GROUP BY unit_type_id)
    SELECT u.id, u.name, u.center_id, c.name AS center, u.unit_count, coalesce(i.units, 0) AS units_in_use,
           count(*) OVER () AS all_types, (sum(u.unit_count) OVER ())::bigint AS all_units,
           (sum(coalesce(i.units, 0)) OVER ())::bigint AS all_in_use
    FROM unit_type u JOIN center c ON c.id = u.center_id LEFT JOIN in_use i ON i.unit_type_id = u.id
    WHERE u.active
    ORDER BY coalesce(i.units, 0)::float8 / greatest(u.unit_count, 1) DESC, c.name, u.name LIMIT $1)sql";

} // namespace

UnitUse select_unit_use(pqxx::transaction_base& transaction, std::int64_t most)
{
    UnitUse use;
    for (const pqxx::row& row : transaction.exec_params(kSelectUnitUse, most)) {
        // The same in each row.
        use.unit_type_count = row["all_types"].as<std::int64_t>();
        use.unit_count = row["all_units"].as<std::int64_t>();
        use.units_in_use = row["all_in_use"].as<std::int64_t>();
        use.fullest.push_back({.id = {row["id"].as<std::string>()},
                               .name = row["name"].as<std::string>(),
                               .center_id = {row["center_id"].as<std::string>()},
                               .center = row["center"].as<std::string>(),
                               .unit_count = row["unit_count"].as<std::int64_t>(),
                               .units_in_use = row["units_in_use"].as<std::int64_t>()});
    }
    return use;
}

Json to_json(const UnitUse& use)
{
    Json fullest = Json::array();
    for (const FullUnitType& one : use.fullest)
        fullest.push_back({{"id", one.id.value},
                           {"center_id", one.center_id.value},
                           {"center", one.center},
                           {"name", one.name},
                           {"unit_count", one.unit_count},
                           {"units_in_use", one.units_in_use}});
    return {{"unit_type_count", use.unit_type_count},
            {"unit_count", use.unit_count},
            {"units_in_use", use.units_in_use},
            {"fullest", std::move(fullest)}};
}

} // namespace fathom::server
