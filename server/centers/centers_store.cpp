#include "server/centers/centers_store.hpp"

#include "core/base/log_limit.hpp"
#include "server/centers/gpus/place_key.hpp"
#include "server/rows/probe_budget_row.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <limits>

namespace fathom::server {
namespace {

constexpr const char* kSelectCenters = R"sql(
    SELECT c.*, (SELECT count(*) FROM unit_type u WHERE u.center_id = c.id AND u.active) AS unit_type_count,
           (SELECT coalesce(sum(a.unit_count), 0)::bigint FROM unit_type u JOIN attempt a ON a.unit_type_id = u.id
            WHERE u.center_id = c.id AND u.active AND a.state <> 'ended' AND a.queued_until IS NULL) AS units_in_use,
           concat_ws('; ', c.quarantine_reason, nullif(c.quarantine_obstacle, '')) AS quarantine_text,
           b.share, b.unit_count, b.used_s, b.reserved_s
    FROM center c JOIN probe_budget b ON b.center_id = c.id WHERE c.name > $1 ORDER BY c.name LIMIT $2)sql";

constexpr const char* kSelectCenter = R"sql(
    SELECT c.*, (SELECT count(*) FROM unit_type u WHERE u.center_id = c.id AND u.active) AS unit_type_count,
           (SELECT coalesce(sum(a.unit_count), 0)::bigint FROM unit_type u JOIN attempt a ON a.unit_type_id = u.id
            WHERE u.center_id = c.id AND u.active AND a.state <> 'ended' AND a.queued_until IS NULL) AS units_in_use,
           concat_ws('; ', c.quarantine_reason, nullif(c.quarantine_obstacle, '')) AS quarantine_text,
           b.share, b.unit_count, b.used_s, b.reserved_s
    FROM center c JOIN probe_budget b ON b.center_id = c.id WHERE c.id = $1 OR c.name = $1)sql";

constexpr const char* kLockCenter = "SELECT id FROM center WHERE id = $1 OR name = $1 FOR UPDATE";

constexpr const char* kUpdateCenter = R"sql(
    UPDATE center SET drained = coalesce($2, drained), drain_reason = CASE WHEN NOT $2 THEN '' ELSE coalesce($4, drain_reason) END,
                      probe_share = coalesce($3, probe_share), version = version + 1
    WHERE id = $1)sql";

// The epoch moves on, so that a session that missed the wake-up fails its next check.
constexpr const char* kUpdateRevoked = R"sql(
    UPDATE center SET revoked_at = now(), state = 'lost', version = version + 1, session_epoch = session_epoch + 1
    WHERE id = $1)sql";

constexpr const char* kExpireEnrolmentTokens = R"sql(
    UPDATE enrolment_token SET expires_at = least(expires_at, now())
    WHERE used_at IS NULL AND center_name = (SELECT name FROM center WHERE id = $1))sql";

// Of the newest probe result no more than advice is made of: its samples may be many.
constexpr const char* kSelectUnitTypes = R"sql(
    SELECT u.*, c.name AS center, to_jsonb(u.operators) AS operator_list,
           q.expected_start AS queue_expected_start, q.told_at AS queue_told_at,
           (SELECT coalesce(sum(a.unit_count), 0)::bigint FROM attempt a
            WHERE a.unit_type_id = u.id AND a.state <> 'ended' AND a.queued_until IS NULL) AS units_in_use,
           (SELECT jsonb_build_object(
                'wall_s', r.result->'wall_s', 'cores', r.result->'cores', 'unit_count', r.result->'unit_count',
                'host', r.result->'host', 'operators', (
                    SELECT jsonb_agg(jsonb_build_object('id', o->'id', 'operations', o->'operations',
                                                        'median_s', o->'median_s'))
                    FROM jsonb_array_elements(r.result->'operators') o))
            FROM probe_run r WHERE r.unit_type_id = u.id AND r.mode = 'strong' AND r.state = 'succeeded'
            ORDER BY r.id DESC LIMIT 1) AS newest_probe
    FROM unit_type u JOIN center c ON c.id = u.center_id
         LEFT JOIN unit_type_queue q ON q.unit_type_id = u.id AND q.expected_start IS NOT NULL
    WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND (c.name, u.name) > ($2, $3) AND ($5 = '' OR u.id = $5)
    ORDER BY c.name, u.name LIMIT $4)sql";

CenterRecord to_center(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .name = row["name"].as<std::string>(),
            .state = row["state"].as<std::string>(),
            .drained = row["drained"].as<bool>(),
            .drain_reason = row["drain_reason"].as<std::string>(),
            .version = row["version"].as<std::int64_t>(),
            .created_at = to_timestamp(row["created_at"]),
            .certificate_not_after = to_optional_timestamp(row["certificate_not_after"]),
            .revoked_at = to_optional_timestamp(row["revoked_at"]),
            .connected_at = to_optional_timestamp(row["connected_at"]),
            .last_seen_at = to_optional_timestamp(row["last_seen_at"]),
            .agent_version = row["agent_version"].as<std::string>(""),
            .facts = to_json_value(row["facts"]),
            .unit_type_count = row["unit_type_count"].as<std::int64_t>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .units_in_use = row["units_in_use"].as<std::int64_t>(),
            .probe_budget = to_probe_budget(row),
            .probe_requested_at = to_optional_timestamp(row["probe_requested_at"]),
            .probe_request_reason = row["probe_request_reason"].as<std::string>(),
            .quarantined_at = to_optional_timestamp(row["quarantined_at"]),
            .quarantine_reason = row["quarantine_text"].as<std::string>()};
}

/// The part of a result that kSelectUnitTypes selects. Empty for what a newer replica wrote or what is broken, of which
/// a line in the log tells.
std::optional<ProbeResult> to_probe_summary(const Json& json, const std::string& unit_type_id)
{
    constexpr double kMaxNumber = std::numeric_limits<double>::max();
    constexpr std::int64_t kMaxWhole = std::numeric_limits<std::int64_t>::max();
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    ProbeResult result;
    result.wall_s = reader.required_number("wall_s", 0, kMaxNumber);
    result.cores = reader.required_integer("cores", 0, kMaxWhole);
    result.unit_count = reader.required_integer("unit_count", 0, kMaxWhole);
    if (const Json* const host = reader.object("host")) result.host = *host;
    const Json* const operators = reader.array("operators", 0, std::numeric_limits<std::size_t>::max());
    for (std::size_t i = 0; operators != nullptr && i < operators->size(); ++i) {
        ObjectReader item((*operators)[i], "operators[" + std::to_string(i) + "]", errors);
        OperatorResult& one = result.operators.emplace_back();
        one.id = item.required_string("id", {});
        one.operations = item.required_number("operations", 0, kMaxNumber);
        one.median_s = item.required_number("median_s", 0, kMaxNumber);
    }
    if (errors.empty()) return result;
    log_limited("probe_result_unreadable",
                {{"unit_type_id", unit_type_id}, {"error", errors.front().field + ": " + errors.front().detail}});
    return std::nullopt;
}

UnitTypeRecord to_unit_type(const pqxx::row& row)
{
    UnitTypeRecord record{.id = {row["id"].as<std::string>()},
                          .center_id = {row["center_id"].as<std::string>()},
                          .center = row["center"].as<std::string>(),
                          .name = row["name"].as<std::string>(),
                          .resource_type = row["resource_type"].as<std::string>(),
                          .unit_count = row["unit_count"].as<std::int64_t>(),
                          .units_in_use = row["units_in_use"].as<std::int64_t>(),
                          .queue_expected_start = to_optional_timestamp(row["queue_expected_start"]),
                          .queue_told_at = to_optional_timestamp(row["queue_told_at"]),
                          .cores_per_unit = row["cores_per_unit"].as<std::int64_t>(),
                          .memory_bytes_per_unit = row["memory_bytes_per_unit"].as<std::int64_t>(),
                          .operators = to_json_value(row["operator_list"]).get<std::vector<std::string>>(),
                          .facts = to_json_value(row["facts"]),
                          .active = row["active"].as<bool>(),
                          .changed_at = to_timestamp(row["changed_at"])};
    if (row["newest_probe"].is_null()) return record;
    if (const auto summary = to_probe_summary(to_json_value(row["newest_probe"]), record.id.value))
        record.advice =
            advise(*summary, {.cores = record.cores_per_unit, .memory_bytes = record.memory_bytes_per_unit});
    return record;
}

} // namespace

Page<CenterRecord> select_centers(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    std::vector<CenterRecord> centers;
    for (const pqxx::row& row : transaction.exec_params(kSelectCenters, after, size + 1))
        centers.push_back(to_center(row));
    return cut_page(std::move(centers), size, [](const CenterRecord& center) { return center.name; });
}

std::optional<CenterRecord> select_center(pqxx::transaction_base& transaction, const std::string& key)
{
    const pqxx::result rows = transaction.exec_params(kSelectCenter, key);
    if (rows.empty()) return std::nullopt;
    return to_center(rows[0]);
}

std::optional<CenterRecord> lock_center(pqxx::transaction_base& transaction, const std::string& key)
{
    if (transaction.exec_params(kLockCenter, key).empty()) return std::nullopt;
    return select_center(transaction, key);
}

void update_center(pqxx::transaction_base& transaction, const CenterId& id, const CenterChange& change)
{
    transaction.exec_params(kUpdateCenter, id.value, change.drained, change.probe_share, change.drain_reason);
}

void update_revoked(pqxx::transaction_base& transaction, const CenterId& id)
{
    transaction.exec_params(kUpdateRevoked, id.value);
    transaction.exec_params(kExpireEnrolmentTokens, id.value);
}

Page<UnitTypeRecord> select_unit_types(pqxx::transaction_base& transaction, const std::string& center,
                                       std::int64_t size, const std::string& after, UnitTypesWanted wanted)
{
    const PlaceKey key = place_key(after);
    std::vector<UnitTypeRecord> unit_types;
    for (const pqxx::row& row : transaction.exec_params(kSelectUnitTypes, center, key.center, key.name, size + 1, ""))
        unit_types.push_back(to_unit_type(row));
    Page<UnitTypeRecord> page = cut_page(std::move(unit_types), size, [](const UnitTypeRecord& unit_type) {
        return to_text({unit_type.center, unit_type.name});
    });
    // Advice is made of what was read: the page goes on after the last that was, whether it has any or not.
    if (wanted == UnitTypesWanted::kAdvised)
        std::erase_if(page.items, [](const UnitTypeRecord& unit_type) { return unit_type.advice.empty(); });
    return page;
}

std::optional<UnitTypeRecord> select_unit_type(pqxx::transaction_base& transaction, const UnitTypeId& id)
{
    const pqxx::result rows = transaction.exec_params(kSelectUnitTypes, "", "", "", 1, id.value);
    if (rows.empty()) return std::nullopt;
    return to_unit_type(rows[0]);
}

Json to_json(const CenterRecord& center)
{
    return {{"id", center.id.value},
            {"name", center.name},
            {"state", center.state},
            {"drained", center.drained},
            {"drain_reason", text_or_null(center.drain_reason)},
            {"version", center.version},
            {"created_at", format_rfc3339(center.created_at)},
            {"certificate_not_after", time_json(center.certificate_not_after)},
            {"revoked_at", time_json(center.revoked_at)},
            {"connected_at", time_json(center.connected_at)},
            {"last_seen_at", time_json(center.last_seen_at)},
            {"agent_version", text_or_null(center.agent_version)},
            {"facts", center.facts},
            {"unit_type_count", center.unit_type_count},
            {"unit_count", center.unit_count},
            {"units_in_use", center.units_in_use},
            {"probe_budget",
             {{"share", center.probe_budget.share},
              {"limit_s", limit_s(center.probe_budget)},
              {"used_s", center.probe_budget.used_s},
              {"reserved_s", center.probe_budget.reserved_s}}},
            {"probe_requested_at", time_json(center.probe_requested_at)},
            {"probe_request_reason", center.probe_requested_at ? text_or_null(center.probe_request_reason) : Json()},
            {"quarantined_at", time_json(center.quarantined_at)},
            {"quarantine_reason", text_or_null(center.quarantine_reason)}};
}

namespace {

Json queue_json(const UnitTypeRecord& unit_type)
{
    if (!unit_type.queue_expected_start || !unit_type.queue_told_at) return nullptr;
    return {{"expected_start", format_rfc3339(*unit_type.queue_expected_start)},
            {"told_at", format_rfc3339(*unit_type.queue_told_at)}};
}

} // namespace

Json to_json(const UnitTypeRecord& unit_type)
{
    Json advice = Json::array();
    for (const Advice& one : unit_type.advice)
        advice.push_back(to_json(one));
    return {{"id", unit_type.id.value},
            {"center_id", unit_type.center_id.value},
            {"center", unit_type.center},
            {"name", unit_type.name},
            {"resource_type", unit_type.resource_type},
            {"unit_count", unit_type.unit_count},
            {"units_in_use", unit_type.units_in_use},
            {"queue", queue_json(unit_type)},
            {"cores_per_unit", unit_type.cores_per_unit},
            {"memory_bytes_per_unit", unit_type.memory_bytes_per_unit},
            {"operators", unit_type.operators},
            {"facts", unit_type.facts},
            {"active", unit_type.active},
            {"advice", std::move(advice)},
            {"changed_at", format_rfc3339(unit_type.changed_at)}};
}

} // namespace fathom::server
