#include "server/centers/unit_type_directory.hpp"

#include "core/decide/measurement/cache_rule.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

constexpr const char* kSelectOffers = R"sql(
    SELECT u.id, u.name, u.center_id, c.name AS center, u.unit_count, u.cores_per_unit,
           (SELECT coalesce(sum(a.unit_count), 0)::bigint FROM attempt a
            WHERE a.unit_type_id = u.id AND a.state <> 'ended' AND a.queued_until IS NULL) AS units_in_use, to_jsonb(s.operators) AS operators,
           u.resource_type, u.memory_bytes_per_unit, u.last_level_caches_bytes,
           jsonb_build_object('last_level_cache_bytes', u.facts -> 'last_level_cache_bytes') AS cache_facts,
           CASE WHEN c.revoked_at IS NOT NULL THEN 'the center is revoked'
                WHEN c.drained THEN concat_ws(': ', 'the center is drained', nullif(c.drain_reason, ''))
                WHEN c.state = 'lost' THEN 'the center is lost'
                WHEN c.state = 'enrolled' THEN 'the center has never connected'
                ELSE '' END AS closed_reason,
           CASE WHEN u.resource_type <> 'cpu' THEN 'copies side by side are measured on processors only'
                WHEN c.host_id IS NULL THEN 'copies side by side need units of one host: its center''s agent does not run jobs itself (Slurm, Kubernetes), or is an older one'
                ELSE '' END AS copies_obstacle
    FROM unit_type u JOIN center c ON c.id = u.center_id JOIN unit_type_support s ON s.unit_type_id = u.id
    WHERE u.active AND ($1 = '' OR u.center_id = $1) ORDER BY c.name, u.name)sql";

UnitMemory memory_of(const pqxx::row& row)
{
    UnitMemory memory{.memory_bytes = row["memory_bytes_per_unit"].as<std::int64_t>()};
    if (row["resource_type"].as<std::string>() != "cpu") return memory;
    const std::optional<std::int64_t> told = last_level_cache_fact(to_json_value(row["cache_facts"]));
    // An empty one is less than any.
    memory.last_level_caches_bytes = std::max(told, optional_of<std::int64_t>(row["last_level_caches_bytes"]));
    return memory;
}

} // namespace

bool UnitTypeOffer::runs(const std::vector<std::string>& operator_ids) const
{
    return std::all_of(operator_ids.begin(), operator_ids.end(), [this](const std::string& wanted) {
        return std::binary_search(operators.begin(), operators.end(), wanted);
    });
}

std::vector<UnitTypeOffer> unit_type_offers(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<UnitTypeOffer> offers;
    for (const pqxx::row& row : transaction.exec_params(kSelectOffers, center.value)) {
        offers.push_back({.id = {row["id"].as<std::string>()},
                          .name = row["name"].as<std::string>(),
                          .center_id = {row["center_id"].as<std::string>()},
                          .center = row["center"].as<std::string>(),
                          .unit_count = row["unit_count"].as<std::int64_t>(),
                          .cores_per_unit = row["cores_per_unit"].as<std::int64_t>(),
                          .units_in_use = row["units_in_use"].as<std::int64_t>(),
                          .operators = to_json_value(row["operators"]).get<std::vector<std::string>>(),
                          .closed_reason = row["closed_reason"].as<std::string>(),
                          .copies_obstacle = row["copies_obstacle"].as<std::string>(),
                          .memory = memory_of(row)});
        // Sorted here: the database's collation is another order.
        std::sort(offers.back().operators.begin(), offers.back().operators.end());
    }
    return offers;
}

const UnitTypeOffer* find_offer(const std::vector<UnitTypeOffer>& offers, const std::string& key)
{
    const auto found = std::find_if(offers.begin(), offers.end(), [&](const UnitTypeOffer& offer) {
        return offer.id.value == key || offer.center + "/" + offer.name == key;
    });
    return found == offers.end() ? nullptr : &*found;
}

} // namespace fathom::server
