#include "server/centers/resources_store.hpp"

#include "core/base/log_limit.hpp"
#include "core/base/utf8_prefix.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr std::int64_t kShownChanges = 20;
constexpr std::int64_t kKeptChanges = 100;
constexpr std::size_t kMaxChangeBytes = 2000;

constexpr Statement kSelectResources{"centers_select_resources", R"sql(
    SELECT c.id, c.name, c.connected_at IS NOT NULL AS is_known, c.facts ? 'remote_resources' AS takes_resources,
           r.version, r.unit_types, r.changed_at, r.changed_by,
           s.version AS said_version, s.state, s.detail, s.permission, s.differences, s.reported_at
    FROM center c LEFT JOIN center_resources r ON r.center_id = c.id
                  LEFT JOIN center_resource_state s ON s.center_id = c.id
    WHERE c.id = $1 OR c.name = $1)sql"};

constexpr Statement kSelectChanges{"centers_select_changes", R"sql(
    SELECT changed_at, change FROM center_change WHERE center_id = $1 ORDER BY id DESC LIMIT $2)sql"};

constexpr Statement kPutResources{"centers_put_resources", R"sql(
    INSERT INTO center_resources (center_id, version, unit_types, changed_by) VALUES ($1, 1, $2::jsonb, $3)
    ON CONFLICT (center_id) DO UPDATE
    SET version = center_resources.version + 1, unit_types = excluded.unit_types, changed_by = excluded.changed_by,
        changed_at = now())sql"};

constexpr Statement kSelectOrder{"centers_select_resource_order", R"sql(
    SELECT coalesce(r.version, 0) AS version, coalesce(r.unit_types, '[]') AS unit_types
    FROM center c LEFT JOIN center_resources r ON r.center_id = c.id
    WHERE c.id = $1 AND c.facts ? 'remote_resources')sql"};

constexpr Statement kPutState{"centers_put_resource_state", R"sql(
    INSERT INTO center_resource_state (center_id, version, state, detail, permission, differences)
    VALUES ($1, $2, $3, $4, $5, $6::jsonb)
    ON CONFLICT (center_id) DO UPDATE
    SET version = excluded.version, state = excluded.state, detail = excluded.detail, permission = excluded.permission,
        differences = excluded.differences, reported_at = now()
    WHERE (center_resource_state.version, center_resource_state.state, center_resource_state.detail,
           center_resource_state.permission, center_resource_state.differences)
       IS DISTINCT FROM (excluded.version, excluded.state, excluded.detail, excluded.permission, excluded.differences)
    RETURNING center_id)sql"};

constexpr Statement kClearState{"centers_clear_resource_state",
                                "DELETE FROM center_resource_state WHERE center_id = $1"};

constexpr Statement kNoteChange{"centers_insert_change",
                                "INSERT INTO center_change (center_id, change) VALUES ($1, $2)"};

constexpr Statement kForgetChanges{"centers_delete_changes", R"sql(
    DELETE FROM center_change WHERE center_id = $1 AND id <= (
        SELECT id FROM center_change WHERE center_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1))sql"};

/// Empty for what a newer replica wrote or what is broken, of which a line in the log tells.
std::optional<std::vector<UnitCut>> to_cuts(const pqxx::field& field, const std::string& center)
{
    const Json document = {{"unit_types", to_json_value(field)}};
    Result<std::vector<UnitCut>> cuts = parse_resource_document(document);
    if (cuts) return std::move(*cuts);
    log_limited("center_resources_unreadable", {{"center_id", center}, {"error", describe(cuts.error())}});
    return std::nullopt;
}

ResourceState to_state(const pqxx::row& row)
{
    const Json json = {{"version", row["said_version"].as<std::int64_t>()},
                       {"state", row["state"].as<std::string>()},
                       {"detail", row["detail"].as<std::string>()},
                       {"permission", row["permission"].as<std::string>()},
                       {"differences", to_json_value(row["differences"])}};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    return read_resource_state(reader, errors);
}

Json differences_json(const ResourceState& state)
{
    return fathom::to_json(state).at("differences");
}

} // namespace

std::optional<CenterResourcesRecord> select_center_resources(pqxx::transaction_base& transaction,
                                                             const std::string& key)
{
    const pqxx::result rows = exec(transaction, kSelectResources, key);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    CenterResourcesRecord record{.center_id = {row["id"].as<std::string>()},
                                 .center = row["name"].as<std::string>(),
                                 .order = {},
                                 .changed_at = to_optional_timestamp(row["changed_at"]),
                                 .changed_by = row["changed_by"].as<std::string>(""),
                                 .is_known = row["is_known"].as<bool>(),
                                 .takes_resources = row["takes_resources"].as<bool>(false),
                                 .is_readable = true,
                                 .reported = std::nullopt,
                                 .reported_at = to_optional_timestamp(row["reported_at"]),
                                 .changes = {}};
    if (!row["version"].is_null()) {
        std::optional<std::vector<UnitCut>> cuts = to_cuts(row["unit_types"], record.center_id.value);
        record.is_readable = cuts.has_value();
        record.order = {.version = row["version"].as<std::int64_t>(),
                        .unit_types = std::move(cuts).value_or(std::vector<UnitCut>())};
    }
    if (record.reported_at) record.reported = to_state(row);
    for (const pqxx::row& change : exec(transaction, kSelectChanges, record.center_id.value, kShownChanges))
        record.changes.push_back({to_timestamp(change["changed_at"]), change["change"].as<std::string>()});
    return record;
}

void put_center_resources(pqxx::transaction_base& transaction, const CenterId& center,
                          const std::vector<UnitCut>& unit_types, const std::string& actor)
{
    exec(transaction, kPutResources, center.value, resource_document(unit_types).at("unit_types").dump(), actor);
}

std::optional<ResourceOrder> select_resource_order(pqxx::transaction_base& transaction, const CenterId& center)
{
    const pqxx::result rows = exec(transaction, kSelectOrder, center.value);
    if (rows.empty()) return std::nullopt;
    std::optional<std::vector<UnitCut>> cuts = to_cuts(rows[0]["unit_types"], center.value);
    if (!cuts) return std::nullopt;
    return ResourceOrder{.version = rows[0]["version"].as<std::int64_t>(), .unit_types = std::move(*cuts)};
}

bool put_resource_state(pqxx::transaction_base& transaction, const CenterId& center, const ResourceState& state)
{
    return !exec(transaction, kPutState, center.value, state.version, state.state, state.detail, state.permission,
                 differences_json(state).dump())
                .empty();
}

void clear_resource_state(pqxx::transaction_base& transaction, const CenterId& center)
{
    exec(transaction, kClearState, center.value);
}

void note_center_change(pqxx::transaction_base& transaction, const CenterId& center, const std::string& change)
{
    exec(transaction, kNoteChange, center.value, std::string(utf8_prefix(change, kMaxChangeBytes)));
    exec(transaction, kForgetChanges, center.value, kKeptChanges);
}

std::string resource_progress(const CenterResourcesRecord& record)
{
    const bool is_answered = record.reported && record.reported->version == record.order.version;
    if (record.order.version == 0) return "file";
    if (!record.is_readable) return "failed";
    if (record.is_known && !record.takes_resources) return "unsupported";
    if (!is_answered) return "waiting";
    if (record.reported->state == "applied" && !record.reported->differences.empty()) return "differs";
    return record.reported->state;
}

Json to_json(const CenterResourcesRecord& record)
{
    Json changes = Json::array();
    for (const CenterChangeRecord& change : record.changes)
        changes.push_back({{"changed_at", format_rfc3339(change.changed_at)}, {"change", change.change}});
    Json reported;
    if (record.reported) {
        reported = fathom::to_json(*record.reported);
        reported["reported_at"] = time_json(record.reported_at);
    }
    return {{"center_id", record.center_id.value},
            {"center", record.center},
            {"version", record.order.version},
            {"unit_types", resource_document(record.order.unit_types).at("unit_types")},
            {"changed_at", time_json(record.changed_at)},
            {"changed_by", text_or_null(record.changed_by)},
            {"state", resource_progress(record)},
            {"reported", std::move(reported)},
            {"changes", std::move(changes)}};
}

} // namespace fathom::server
