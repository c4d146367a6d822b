#include "server/catalog/catalog_store.hpp"

#include "core/base/log.hpp"
#include "server/catalog/catalog_measurements.hpp"
#include "server/catalog/catalog_prices.hpp"
#include "server/catalog/device_facts.hpp"
#include "server/catalog/known_runs.hpp"
#include "server/rows/operator_mix.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>
#include <tuple>

namespace fathom::server {
namespace {

constexpr const char* kSelectUnitTypes = R"sql(
    SELECT u.id, u.name, u.center_id, c.name AS center, u.resource_type, to_jsonb(s.operators) AS operators,
           u.unit_count, u.cores_per_unit, u.memory_bytes_per_unit, u.facts -> 'isa' AS isa, u.facts -> 'bus_gb_s' AS bus_gb,
           u.facts -> 'device' AS device, u.facts -> 'max_wall_s' AS max_wall,
           coalesce(c.facts -> 'software' ->> 'modules' = 'true', false) AS has_modules,
           coalesce(c.facts -> 'software' ->> 'containers' = 'true', false) AS has_containers,
           coalesce((SELECT to_jsonb(max((g.report ->> 'capacity_bytes')::bigint - (g.report ->> 'gap_bytes')::bigint))
                     FROM shared_gpu g
                     WHERE g.center_id = c.id AND u.facts -> 'device' ->> 'sharing' = 'time-slice'),
                    u.facts -> 'device' -> 'memory_bytes') AS gpu_memory, c.state, c.drained, c.drain_reason, c.quarantined_at IS NOT NULL AS quarantined,
           concat_ws('; ', c.quarantine_reason, nullif(c.quarantine_obstacle, '')) AS quarantine_reason,
           CASE WHEN EXISTS (SELECT 1 FROM center h JOIN unit_type o ON o.center_id = h.id
                             WHERE h.host_id = c.host_id AND h.revoked_at IS NULL AND o.active AND o.id <> u.id)
                THEN c.host_id ELSE '' END AS host,
           coalesce(greatest(extract(epoch FROM q.expected_start - now()), 0), 0)::float8 AS queued_s
    FROM unit_type u JOIN center c ON c.id = u.center_id JOIN unit_type_support s ON s.unit_type_id = u.id
         LEFT JOIN unit_type_queue q ON q.unit_type_id = u.id
    WHERE u.active AND c.revoked_at IS NULL
    ORDER BY u.id)sql";

constexpr const char* kCountCenters = "SELECT count(*) FROM center WHERE revoked_at IS NULL";

constexpr const char* kSelectOperators = "SELECT id, version, manifest, withdrawn_at FROM operator";

// Bounded, because every submission is compared with its owner's. Each owner's newest come first, so that nobody's
// types crowd out another's. What fell out is learned anew.
constexpr const char* kSelectJobTypes = R"sql(
    SELECT name, submitted_by, project, mix, operators, profiled, learned_from, learned_at, known_run
    FROM (SELECT *, row_number() OVER (PARTITION BY submitted_by ORDER BY learned_at DESC) AS place FROM job_type) t
    ORDER BY place, learned_at DESC LIMIT 5000)sql";

constexpr const char* kSelectProfiledProjects = "SELECT name FROM project WHERE profile_jobs";

std::string closed_reason(const std::string& state, bool is_drained, const std::string& drain_reason)
{
    if (is_drained) return "the center is drained" + (drain_reason.empty() ? "" : ": " + drain_reason);
    if (state == "suspect") return "the center is silent";
    if (state == "lost") return "the center is lost";
    if (state != "online") return "the center has never connected";
    return "";
}

/// Facts are what an agent says: anything but a list of texts is as good as nothing.
std::vector<std::string> to_instruction_sets(const Json& facts)
{
    std::vector<std::string> names;
    if (!facts.is_array()) return names;
    for (const Json& name : facts) {
        if (name.is_string()) names.push_back(name.get<std::string>());
    }
    std::sort(names.begin(), names.end());
    return names;
}

UnitTypeView to_view(const pqxx::row& row)
{
    UnitTypeView view;
    view.id = {row["id"].as<std::string>()};
    view.name = row["name"].as<std::string>();
    view.center_id = {row["center_id"].as<std::string>()};
    view.center_name = row["center"].as<std::string>();
    view.resource_type = row["resource_type"].as<std::string>();
    auto operators = to_json_value(row["operators"]).get<std::vector<std::string>>();
    std::sort(operators.begin(), operators.end());
    view.operators = std::move(operators);
    view.unit_count = row["unit_count"].as<std::int64_t>();
    view.cores_per_unit = row["cores_per_unit"].as<std::int64_t>();
    const Json bus_gb = to_json_value(row["bus_gb"]);
    if (bus_gb.is_number()) view.bus_gb = std::max(bus_gb.get<double>(), 0.0);
    view.memory_bytes_per_unit = row["memory_bytes_per_unit"].as<std::int64_t>();
    const Json gpu_memory = to_json_value(row["gpu_memory"]);
    if (gpu_memory.is_number_integer())
        view.gpu_memory_bytes = std::max<std::int64_t>(gpu_memory.get<std::int64_t>(), 0);
    const Json max_wall = to_json_value(row["max_wall"]);
    if (max_wall.is_number_integer()) view.max_wall_s = std::max<std::int64_t>(max_wall.get<std::int64_t>(), 0);
    view.software = {.modules = row["has_modules"].as<bool>(), .containers = row["has_containers"].as<bool>()};
    view.isa = to_instruction_sets(to_json_value(row["isa"]));
    const bool is_drained = row["drained"].as<bool>();
    view.closed_reason =
        closed_reason(row["state"].as<std::string>(), is_drained, row["drain_reason"].as<std::string>());
    view.closed_by = is_drained ? Filter::kDrain : Filter::kHealth;
    if (view.closed_reason.empty() && row["quarantined"].as<bool>()) {
        view.closed_reason = "the center is quarantined: " + row["quarantine_reason"].as<std::string>();
        view.is_open_to_probes = true;
    }
    view.queued_s = row["queued_s"].as<double>();
    view.host = row["host"].as<std::string>();
    view.units_per_device = units_per_device_of(to_json_value(row["device"]));
    view.free_all();
    return view;
}

void read_operators(pqxx::work& transaction, CatalogSnapshot& catalog)
{
    for (const pqxx::row& row : transaction.exec(kSelectOperators)) {
        const auto id = row["id"].as<std::string>();
        const auto version = row["version"].as<std::int64_t>();
        Result<OperatorManifest> manifest = parse_operator_manifest(to_json_value(row["manifest"]));
        if (!manifest) {
            // Written by a newer or broken replica: the other operators still serve.
            log_error("manifest_unreadable", {{"operator", id}, {"error", describe(manifest.error())}});
            continue;
        }
        manifest->version = version;
        catalog.operators[id][version] = {std::move(*manifest), !row["withdrawn_at"].is_null()};
    }
}

void read_job_types(pqxx::work& transaction, CatalogSnapshot& catalog)
{
    for (const pqxx::row& row : transaction.exec(kSelectJobTypes)) {
        const auto name = row["name"].as<std::string>();
        KnownJobType type;
        std::vector<FieldError> errors;
        for (const Json& item : to_json_value(row["operators"]))
            type.operators.push_back(parse_operator_use(item, "operators", errors));
        // Written by a newer replica: its jobs are placed as if nothing was known.
        if (!errors.empty()) continue;
        type.profiled = row["profiled"].as<bool>();
        type.learned_from = row["learned_from"].as<std::string>();
        type.learned_at = to_timestamp(row["learned_at"]);
        type.owner = row["submitted_by"].as<std::string>();
        type.project = row["project"].as<std::string>();
        const std::optional<OperatorMix> mix = read_mix(to_json_value(row["mix"]), name);
        if (!mix) continue;
        type.mix = *mix;
        if (!row["known_run"].is_null())
            type.known_run = read_known_run(to_json_value(row["known_run"]), type.learned_from, catalog);
        catalog.job_types[name].push_back(std::move(type));
    }
    for (auto& [name, types] : catalog.job_types) {
        std::sort(types.begin(), types.end(), [](const KnownJobType& a, const KnownJobType& b) {
            return std::tie(b.learned_at, b.learned_from) < std::tie(a.learned_at, a.learned_from);
        });
    }
    for (const pqxx::row& row : transaction.exec(kSelectProfiledProjects))
        catalog.profiled_projects.insert(row[0].as<std::string>());
}

} // namespace

CatalogSnapshot select_catalog(pqxx::work& transaction, const CatalogSnapshot& previous)
{
    CatalogSnapshot catalog;
    for (const pqxx::row& row : transaction.exec(kSelectUnitTypes))
        catalog.unit_types.push_back(to_view(row));
    std::set<std::int64_t> wall_limits;
    for (const UnitTypeView& view : catalog.unit_types) {
        if (view.max_wall_s > 0) wall_limits.insert(view.max_wall_s);
    }
    catalog.wall_limits.assign(wall_limits.begin(), wall_limits.end());
    catalog.prices = select_prices(transaction, previous.prices);
    read_measurements(transaction, catalog, previous);
    read_operators(transaction, catalog);
    read_job_types(transaction, catalog);
    catalog.center_count = transaction.exec1(kCountCenters)[0].as<std::int64_t>();
    return catalog;
}

} // namespace fathom::server
