#include "server/sub_units/sub_units_broker.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
SubUnitBroker::SubUnitBroker(pqxx::transaction_base& transaction, std::string kind)
    : transaction_(&transaction), kind_(std::move(kind)), holdings_(select_sub_unit_holdings(transaction, kind_)),
      grants_(select_moving_sub_unit_grants(transaction, kind_))
{
    for (SubUnitRequestRecord& request : select_live_sub_unit_requests(transaction, kind_))
        requests_.push_back(std::move(request));
}

std::optional<SubUnitBroker> SubUnitBroker::open(pqxx::transaction_base& transaction, const std::string& kind)
{
    if (!lock_sub_unit_kind(transaction, kind)) return std::nullopt;
    return SubUnitBroker(transaction, kind);
}

SubUnitBroker SubUnitBroker::open_or_add(pqxx::transaction_base& transaction, const std::string& kind)
{
    insert_sub_unit_kind(transaction, kind);
    lock_sub_unit_kind(transaction, kind);
    return {transaction, kind};
}

const SubUnitHoldingRecord* SubUnitBroker::find(const std::string& center_id) const
{
    const auto found = std::find_if(holdings_.begin(), holdings_.end(), [&](const SubUnitHoldingRecord& holding) {
        return holding.center_id == center_id;
    });
    return found == holdings_.end() ? nullptr : &*found;
}

SubUnitHoldingRecord* SubUnitBroker::holding_of(const std::string& center_id)
{
    const auto found = std::find_if(holdings_.begin(), holdings_.end(), [&](const SubUnitHoldingRecord& holding) {
        return holding.center_id == center_id;
    });
    return found == holdings_.end() ? nullptr : &*found;
}

SubUnitRequestRecord* SubUnitBroker::request_of(const std::string& id)
{
    const auto same = [&](const SubUnitRequestRecord& request) { return request.id.value == id; };
    auto found = std::find_if(requests_.begin(), requests_.end(), same);
    if (found != requests_.end()) return &*found;
    std::optional<SubUnitRequestRecord> ended = select_sub_unit_request(*transaction_, id);
    if (!ended) return nullptr;
    requests_.push_back(std::move(*ended));
    return &requests_.back();
}

void SubUnitBroker::note(const SubUnitHoldingRecord& holding, const Note& note)
{
    insert_sub_unit_event(*transaction_, {.kind = kind_,
                                          .center_id = holding.center_id,
                                          .event = note.event,
                                          .count = note.count,
                                          .held_count = holding.held_count,
                                          .actor = note.actor,
                                          .request_id = note.request_id,
                                          .grant_id = note.grant_id,
                                          .detail = note.detail});
    log_after_commit(LogLevel::kInfo, "sub_units_" + note.event,
                     {{"kind", kind_},
                      {"center", holding.center},
                      {"count", note.count},
                      {"held_count", holding.held_count},
                      {"sub_unit_request", note.request_id},
                      {"sub_unit_grant", note.grant_id},
                      {"detail", note.detail}});
}

void SubUnitBroker::set_target(SubUnitHoldingRecord& holding, std::int64_t held, std::int64_t offered)
{
    holding.target_held = held;
    holding.target_offered = offered;
    ++holding.version;
    upsert_sub_unit_holding(*transaction_, holding);
    notify(*transaction_, "sub_unit", holding.center_id);
}

void SubUnitBroker::add_holding(const std::string& center_id, const link::SubUnitHolding& report)
{
    SubUnitHoldingRecord holding{.kind = kind_,
                                 .center_id = center_id,
                                 .unit_type = report.unit_type,
                                 .sub_units_per_unit = report.sub_units_per_unit,
                                 .reported_count = report.registered_count,
                                 .registered_count = report.registered_count,
                                 .most_count = report.most_count,
                                 .held_count = report.registered_count,
                                 .version = report.version};
    set_target(holding, holding.held_count, holding.held_count);
    // With the center's name and state.
    holdings_ = select_sub_unit_holdings(*transaction_, kind_);
    note(*find(center_id), {.event = "registered", .count = report.registered_count, .actor = center_id});
}

void SubUnitBroker::take(const std::string& center_id, const link::SubUnitHolding& report)
{
    SubUnitHoldingRecord* const holding = holding_of(center_id);
    if (holding == nullptr) return add_holding(center_id, report);
    holding->unit_type = report.unit_type;
    holding->sub_units_per_unit = report.sub_units_per_unit;
    holding->most_count = report.most_count;
    holding->reported_count = report.registered_count;
    if (report.version > holding->version) {
        // The database is older than what the agent has heard: it hears again.
        log_limited("sub_units_ahead", {{"kind", kind_}, {"center", holding->center}, {"version", report.version}});
        holding->version = report.version;
        return set_target(*holding, holding->target_held, holding->target_offered);
    }
    const bool is_under_way = !holding->is_settled();
    if (is_under_way && report.refused_version == holding->version) return refuse(*holding, report.refusal);
    if (is_under_way && report.version == holding->version) return reach(*holding);
    upsert_sub_unit_holding(*transaction_, *holding);
}

void SubUnitBroker::reach(SubUnitHoldingRecord& holding)
{
    holding.reached_version = holding.version;
    for (SubUnitRequestRecord& request : requests_) {
        const bool is_reached = request.center_id == holding.center_id && request.version == holding.version;
        if (is_reached && request.state == "giving") finish_release(holding, request);
    }
    for (SubUnitGrantRecord& grant : grants_) {
        if (grant.to_center_id != holding.center_id || grant.state != "moving") continue;
        grant.state = "granted";
        update_sub_unit_grant(*transaction_, grant);
        note(holding, {.event = "gained",
                       .count = grant.count,
                       .actor = holding.center_id,
                       .request_id = grant.request_id,
                       .grant_id = grant.id.value});
    }
    upsert_sub_unit_holding(*transaction_, holding);
}

void SubUnitBroker::finish_release(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request)
{
    holding.held_count -= request.count;
    request.state = "done";
    request.free_count = request.count;
    save(request);
    note(holding, {.event = "released",
                   .count = request.count,
                   .actor = holding.center_id,
                   .request_id = request.id.value,
                   .detail = request.reason});
    if (request.undo_of.empty()) return;
    std::optional<SubUnitGrantRecord> undone = select_sub_unit_grant(*transaction_, request.undo_of);
    if (!undone) return;
    undone->state = "undone";
    update_sub_unit_grant(*transaction_, *undone);
    note(holding, {.event = "undone",
                   .count = undone->count,
                   .actor = request.asked_by,
                   .request_id = request.id.value,
                   .grant_id = undone->id.value});
}

void SubUnitBroker::end(SubUnitRequestRecord& request, const std::string& state, const std::string& reason,
                        const std::string& actor)
{
    request.state = state;
    request.end_reason = reason;
    save(request);
    // The center's agent hears of it with its target, which may stay the same.
    if (state == "refused") notify(*transaction_, "sub_unit", request.center_id);
    note(*find(request.center_id),
         {.event = state, .count = request.count, .actor = actor, .request_id = request.id.value, .detail = reason});
}

/// The center will not do what it was told: as it was before.
void SubUnitBroker::refuse(SubUnitHoldingRecord& holding, const std::string& reason)
{
    for (SubUnitRequestRecord& request : requests_) {
        const bool is_moving = request.state == "draining" || request.state == "giving";
        if (is_moving && request.center_id == holding.center_id) end(request, "refused", reason, holding.center_id);
    }
    for (SubUnitGrantRecord& grant : grants_) {
        if (grant.to_center_id == holding.center_id && grant.state == "moving") take_back(holding, grant, reason);
    }
    set_target(holding, holding.held_count, holding.held_count);
}

/// A grant that its center refuses: its sub-units are free again, and the center does not wait for them any more.
void SubUnitBroker::take_back(SubUnitHoldingRecord& holding, SubUnitGrantRecord& grant, const std::string& reason)
{
    holding.held_count -= grant.count;
    holding.target_held = holding.held_count;
    grant.state = "refused";
    grant.end_reason = reason;
    update_sub_unit_grant(*transaction_, grant);
    note(holding, {.event = "refused",
                   .count = grant.count,
                   .actor = holding.center_id,
                   .request_id = grant.request_id,
                   .grant_id = grant.id.value,
                   .detail = reason});
    if (SubUnitRequestRecord* const release = request_of(grant.release_id)) {
        release->free_count += grant.count;
        release->granted_count -= grant.count;
        if (!release->undo_of.empty()) release->end_reason = "not taken back: " + reason;
        save(*release);
    }
    SubUnitRequestRecord* const gain = grant.request_id.empty() ? nullptr : request_of(grant.request_id);
    if (gain == nullptr) return;
    gain->granted_count -= grant.count;
    gain->state = "refused";
    gain->end_reason = reason;
    save(*gain);
}

} // namespace fathom::server
