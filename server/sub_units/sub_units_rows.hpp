#pragma once

// Internal to server/sub_units: the columns that rows are read from, and how.

#include "server/store/column.hpp"
#include "server/sub_units/sub_units_record.hpp"

#include <pqxx/row>

// Beginnings of statements, which must be literals.
#define FATHOM_SUB_UNIT_HOLDING_COLUMNS                                                                                \
    "h.*, c.name AS center, CASE WHEN c.revoked_at IS NULL THEN c.state ELSE 'revoked' END AS center_state"
#define FATHOM_SUB_UNIT_HOLDING                                                                                        \
    "SELECT " FATHOM_SUB_UNIT_HOLDING_COLUMNS " FROM sub_unit_holding h JOIN center c ON c.id = h.center_id"
#define FATHOM_SUB_UNIT_REQUEST                                                                                        \
    "SELECT r.*, c.name AS center FROM sub_unit_request r JOIN center c ON c.id = r.center_id"
#define FATHOM_SUB_UNIT_GRANT                                                                                          \
    "SELECT g.*, a.name AS from_center, b.name AS to_center FROM sub_unit_grant g "                                    \
    "JOIN center a ON a.id = g.from_center_id JOIN center b ON b.id = g.to_center_id"

namespace fathom::server {

inline SubUnitHoldingRecord to_sub_unit_holding(const pqxx::row& row)
{
    return {.kind = row["kind"].as<std::string>(),
            .center_id = row["center_id"].as<std::string>(),
            .center = row["center"].as<std::string>(),
            .center_state = row["center_state"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .sub_units_per_unit = row["sub_units_per_unit"].as<std::int64_t>(),
            .reported_count = row["reported_count"].as<std::int64_t>(),
            .registered_count = row["registered_count"].as<std::int64_t>(),
            .most_count = row["most_count"].as<std::int64_t>(),
            .held_count = row["held_count"].as<std::int64_t>(),
            .target_held = row["target_held"].as<std::int64_t>(),
            .target_offered = row["target_offered"].as<std::int64_t>(),
            .version = row["version"].as<std::int64_t>(),
            .reached_version = row["reached_version"].as<std::int64_t>()};
}

inline SubUnitRequestRecord to_sub_unit_request(const pqxx::row& row)
{
    SubUnitRequestRecord request{.id = {row["id"].as<std::string>()},
                                 .turn = row["turn"].as<std::int64_t>(),
                                 .kind = row["kind"].as<std::string>(),
                                 .center_id = row["center_id"].as<std::string>(),
                                 .center = row["center"].as<std::string>(),
                                 .action = row["action"].as<std::string>(),
                                 .count = row["count"].as<std::int64_t>(),
                                 .granted_count = row["granted_count"].as<std::int64_t>(),
                                 .free_count = row["free_count"].as<std::int64_t>(),
                                 .state = row["state"].as<std::string>(),
                                 .reason = row["reason"].as<std::string>(),
                                 .asked_by = row["asked_by"].as<std::string>()};
    if (!row["version"].is_null()) request.version = row["version"].as<std::int64_t>();
    request.message_id = row["message_id"].as<std::string>("");
    request.undo_of = row["undo_of"].as<std::string>("");
    request.created_at = to_timestamp(row["created_at"]);
    request.ended_at = to_optional_timestamp(row["ended_at"]);
    request.end_reason = row["end_reason"].as<std::string>();
    return request;
}

inline SubUnitGrantRecord to_sub_unit_grant(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .kind = row["kind"].as<std::string>(),
            .release_id = row["release_id"].as<std::string>(),
            .request_id = row["request_id"].as<std::string>(""),
            .from_center_id = row["from_center_id"].as<std::string>(),
            .from_center = row["from_center"].as<std::string>(),
            .to_center_id = row["to_center_id"].as<std::string>(),
            .to_center = row["to_center"].as<std::string>(),
            .count = row["count"].as<std::int64_t>(),
            .state = row["state"].as<std::string>(),
            .version = row["version"].as<std::int64_t>(),
            .undo_of = row["undo_of"].as<std::string>(""),
            .created_at = to_timestamp(row["created_at"]),
            .ended_at = to_optional_timestamp(row["ended_at"]),
            .end_reason = row["end_reason"].as<std::string>()};
}

} // namespace fathom::server
