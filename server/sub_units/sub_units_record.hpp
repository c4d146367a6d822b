#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <vector>

/// The rows of sub-units, as values and as the REST interface shows them.
namespace fathom::server {

struct SubUnitRequestKind {
    static constexpr std::string_view kPrefix = "sur";
};
using SubUnitRequestId = Id<SubUnitRequestKind>;
struct SubUnitGrantKind {
    static constexpr std::string_view kPrefix = "sug";
};
using SubUnitGrantId = Id<SubUnitGrantKind>;

/// What a center has of a kind; see the comments on the table's columns.
struct SubUnitHoldingRecord {
    std::string kind{};
    std::string center_id{};
    std::string center{};
    std::string center_state{};
    std::string unit_type{};
    std::int64_t sub_units_per_unit{1};
    std::int64_t reported_count{};
    std::int64_t registered_count{};
    std::int64_t most_count{};
    std::int64_t held_count{};
    std::int64_t target_held{};
    std::int64_t target_offered{};
    std::int64_t version{};
    std::int64_t reached_version{};

    /// The center has what it was told to have.
    bool is_settled() const { return reached_version == version; }
    /// And no change is under way.
    bool is_idle() const { return is_settled() && target_offered == target_held; }
};

///     waiting -> draining -> giving -> done     a release; refused or cancelled until then
///     waiting -> done                           a gain; refused or cancelled until then
struct SubUnitRequestRecord {
    SubUnitRequestId id;
    std::int64_t turn{};
    std::string kind{};
    std::string center_id{};
    std::string center{};
    std::string action{}; ///< "release" or "gain"
    std::int64_t count{};
    std::int64_t granted_count{};
    std::int64_t free_count{};
    std::string state = "waiting";
    std::optional<std::int64_t> version{};
    std::string reason{};
    std::string asked_by{};
    std::string message_id{}; ///< empty: not by an agent's message
    std::string undo_of{};    ///< a grant; empty: none
    Timestamp created_at{};
    std::optional<Timestamp> ended_at{};
    std::string end_reason{};

    bool is_open() const { return state == "waiting" || state == "draining" || state == "giving"; }
};

///     moving -> granted -> undone;  moving -> refused
struct SubUnitGrantRecord {
    SubUnitGrantId id;
    std::string kind{};
    std::string release_id{};
    std::string request_id{}; ///< empty: an undo
    std::string from_center_id{};
    std::string from_center{};
    std::string to_center_id{};
    std::string to_center{};
    std::int64_t count{};
    std::string state = "moving";
    std::int64_t version{};
    std::string undo_of{}; ///< a grant; empty: none
    Timestamp created_at{};
    std::optional<Timestamp> ended_at{};
    std::string end_reason{};
};

/// One row of the record of changes.
struct SubUnitEventRecord {
    std::int64_t id{};
    Timestamp at{};
    std::string kind{};
    std::string center_id{};
    std::string center{};
    std::string event{};
    std::int64_t count{};
    std::int64_t held_count{};
    std::string actor{};
    std::string request_id{};
    std::string grant_id{};
    std::string detail{};
};

/// A kind of sub-units with what each center has of it.
struct SubUnitKindRecord {
    std::string kind{};
    std::int64_t free_count{};
    std::vector<SubUnitHoldingRecord> holdings{};
};

Json to_json(const SubUnitKindRecord& kind);
Json to_json(const SubUnitRequestRecord& request);
Json to_json(const SubUnitGrantRecord& grant);
Json to_json(const SubUnitEventRecord& event);

} // namespace fathom::server
