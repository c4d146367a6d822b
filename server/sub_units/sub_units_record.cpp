#include "server/sub_units/sub_units_record.hpp"

#include "server/store/column.hpp"

namespace fathom::server {
namespace {

Json to_json(const SubUnitHoldingRecord& holding)
{
    return {{"center_id", holding.center_id},
            {"center", holding.center},
            {"center_state", holding.center_state},
            {"unit_type", holding.unit_type},
            {"sub_units_per_unit", holding.sub_units_per_unit},
            {"registered_count", holding.registered_count},
            {"held_count", holding.held_count},
            {"target_count", holding.target_held},
            {"offered_count", holding.target_offered},
            {"most_count", holding.most_count},
            {"settled", holding.is_idle()}};
}

} // namespace

Json to_json(const SubUnitKindRecord& kind)
{
    std::int64_t registered_count = 0;
    std::int64_t held_count = 0;
    Json centers = Json::array();
    for (const SubUnitHoldingRecord& holding : kind.holdings) {
        registered_count += holding.registered_count;
        held_count += holding.held_count;
        centers.push_back(to_json(holding));
    }
    return {{"kind", kind.kind},
            {"registered_count", registered_count},
            {"held_count", held_count},
            {"free_count", kind.free_count},
            {"centers", std::move(centers)}};
}

Json to_json(const SubUnitRequestRecord& request)
{
    return {{"id", request.id.value},
            {"kind", request.kind},
            {"center_id", request.center_id},
            {"center", request.center},
            {"action", request.action},
            {"count", request.count},
            {"granted_count", request.granted_count},
            {"free_count", request.free_count},
            {"state", request.state},
            {"reason", request.reason},
            {"asked_by", request.asked_by},
            {"undo_of", text_or_null(request.undo_of)},
            {"created_at", format_rfc3339(request.created_at)},
            {"ended_at", time_json(request.ended_at)},
            {"end_reason", request.end_reason}};
}

Json to_json(const SubUnitGrantRecord& grant)
{
    return {{"id", grant.id.value},
            {"kind", grant.kind},
            {"release_id", grant.release_id},
            {"request_id", text_or_null(grant.request_id)},
            {"from_center_id", grant.from_center_id},
            {"from_center", grant.from_center},
            {"to_center_id", grant.to_center_id},
            {"to_center", grant.to_center},
            {"count", grant.count},
            {"state", grant.state},
            {"undo_of", text_or_null(grant.undo_of)},
            {"created_at", format_rfc3339(grant.created_at)},
            {"ended_at", time_json(grant.ended_at)},
            {"end_reason", grant.end_reason}};
}

Json to_json(const SubUnitEventRecord& event)
{
    return {{"id", event.id},
            {"at", format_rfc3339(event.at)},
            {"kind", event.kind},
            {"center_id", event.center_id},
            {"center", event.center},
            {"event", event.event},
            {"count", event.count},
            {"held_count", event.held_count},
            {"actor", event.actor},
            {"request_id", text_or_null(event.request_id)},
            {"grant_id", text_or_null(event.grant_id)},
            {"detail", event.detail}};
}

} // namespace fathom::server
