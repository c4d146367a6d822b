#include "core/base/log_limit.hpp"
#include "core/decide/sub_units/grant_plan.hpp"
#include "server/sub_units/sub_units_broker.hpp"

#include <pqxx/pqxx>

#include <algorithm>

// What the broker is asked for, and what it does by itself.
namespace fathom::server {
namespace {

/// Releases of which something is granted in one step: an agent may refuse what it asked for, again and again, and each
/// grant of it is recorded. What the others have freed is granted in the next steps.
constexpr std::size_t kMaxFreedAtOnce = 20;

std::string sub_units(std::int64_t count)
{
    return std::to_string(count) + (count == 1 ? " sub-unit" : " sub-units");
}

/// A release that an undo made, whose sub-units still go back to where they came from.
bool is_return(const SubUnitRequestRecord& release)
{
    return release.free_count > 0 && !release.undo_of.empty() && release.end_reason.empty();
}

bool can_take(const SubUnitHoldingRecord& holding)
{
    return holding.is_idle() && holding.center_state == "online" && holding.target_held < holding.most_count;
}

std::int64_t room_of(const SubUnitHoldingRecord& holding)
{
    return holding.most_count - holding.target_held;
}

/// Of all that is planned for one request.
std::int64_t planned_count(const std::vector<PlannedGrant>& plan, const std::string& request_id)
{
    std::int64_t count = 0;
    for (const PlannedGrant& one : plan)
        count += one.request_id == request_id ? one.count : 0;
    return count;
}

/// Why a center cannot ask for that; empty when it can.
std::optional<Error> obstacle(const SubUnitHoldingRecord& holding, const SubUnitWanted& wanted)
{
    if (wanted.action == "release" && wanted.count > holding.target_held)
        return Error{Errc::kConflict, "center " + holding.center + " has only " + sub_units(holding.target_held) +
                                          " of kind " + holding.kind};
    if (wanted.action == "gain" && wanted.count > room_of(holding))
        return Error{Errc::kInfeasible, "center " + holding.center + " has " + sub_units(holding.target_held) +
                                            " of kind " + holding.kind + ", and its machines could have " +
                                            std::to_string(holding.most_count)};
    return std::nullopt;
}

} // namespace

SubUnitRequestId SubUnitBroker::add(const SubUnitRequestRecord& request)
{
    insert_sub_unit_request(*transaction_, request);
    requests_.push_back(select_sub_unit_request(*transaction_, request.id.value).value());
    note(*find(request.center_id), {.event = "asked",
                                    .count = request.count,
                                    .actor = request.asked_by,
                                    .request_id = request.id.value,
                                    .grant_id = request.undo_of,
                                    .detail = request.action + (request.reason.empty() ? "" : ": " + request.reason)});
    return request.id;
}

SubUnitRequestRecord* SubUnitBroker::find_same(const SubUnitWanted& wanted)
{
    const auto found = std::find_if(requests_.begin(), requests_.end(), [&](const SubUnitRequestRecord& other) {
        return !wanted.message_id.empty() && other.center_id == wanted.center_id && other.asked_by == wanted.actor &&
               other.is_open() && other.undo_of.empty() && other.action == wanted.action &&
               other.count - other.granted_count == wanted.count;
    });
    return found == requests_.end() ? nullptr : &*found;
}

Result<SubUnitRequestId> SubUnitBroker::ask(const SubUnitWanted& wanted)
{
    const SubUnitHoldingRecord* const holding = find(wanted.center_id);
    if (holding == nullptr)
        return Error{Errc::kInvalid, "the center has not said that it has sub-units of kind " + kind_};
    if (SubUnitRequestRecord* const same = find_same(wanted)) {
        same->message_id = wanted.message_id;
        save(*same);
        return same->id;
    }
    const bool is_agents = !wanted.message_id.empty();
    if (is_agents && is_beyond_sub_unit_pace(*transaction_, wanted.center_id))
        return Error{Errc::kTooMany, "the agent of center " + holding->center +
                                         " has asked, changed totals or refused " + std::to_string(kMaxSubUnitRecords) +
                                         " times in ten minutes, and may not do so more often; ask again later"};
    for (const SubUnitRequestRecord& other : requests_) {
        if (other.center_id != wanted.center_id || !other.is_open() || !other.undo_of.empty()) continue;
        const bool is_agents_own = is_agents && other.asked_by == wanted.actor;
        const bool is_replaced = is_agents_own && other.state != "giving" && cancel(other.id, wanted.actor);
        if (!is_replaced)
            return Error{Errc::kConflict,
                         "center " + holding->center + " has an open request of kind " + kind_ + ": " + other.id.value};
    }
    if (const std::optional<Error> error = obstacle(*holding, wanted)) return *error;
    return add({.id = SubUnitRequestId::make(),
                .kind = kind_,
                .center_id = wanted.center_id,
                .action = wanted.action,
                .count = wanted.count,
                .reason = wanted.reason,
                .asked_by = wanted.actor,
                .message_id = wanted.message_id});
}

void SubUnitBroker::withdraw(const std::string& center_id, const std::string& actor)
{
    for (const SubUnitRequestRecord& request : requests_) {
        const bool is_agents_own = request.center_id == center_id && request.asked_by == actor;
        if (is_agents_own && request.is_open() && request.undo_of.empty() && request.state != "giving")
            static_cast<void>(cancel(request.id, actor)); // open and not being given: nothing stands against it
    }
}

Result<void> SubUnitBroker::cancel(const SubUnitRequestId& id, const std::string& actor)
{
    SubUnitRequestRecord* const request = request_of(id.value);
    if (request == nullptr) return Error{Errc::kNotFound, "there is no such request"};
    if (request->state == "cancelled") return {};
    if (!request->is_open()) return Error{Errc::kConflict, "this request has ended: it is " + request->state};
    if (request->state == "giving") return Error{Errc::kConflict, "the center is giving these sub-units up already"};
    if (request->state == "draining") {
        SubUnitHoldingRecord& holding = *holding_of(request->center_id);
        set_target(holding, holding.target_held, holding.target_held);
    }
    end(*request, "cancelled", "", actor);
    return {};
}

const SubUnitRequestRecord* SubUnitBroker::find_undo(const SubUnitGrantId& grant) const
{
    const auto found = std::find_if(requests_.begin(), requests_.end(), [&](const SubUnitRequestRecord& request) {
        return request.undo_of == grant.value && request.is_open();
    });
    return found == requests_.end() ? nullptr : &*found;
}

Result<SubUnitRequestId> SubUnitBroker::undo(const SubUnitGrantRecord& grant, const std::string& actor)
{
    if (const SubUnitRequestRecord* const open = find_undo(grant.id)) return open->id;
    if (grant.state != "granted") return Error{Errc::kConflict, "this grant is " + grant.state};
    const SubUnitHoldingRecord& holder = *find(grant.to_center_id);
    const SubUnitHoldingRecord& origin = *find(grant.from_center_id);
    const SubUnitWanted release{grant.to_center_id, "release", grant.count, "undo of " + grant.id.value, actor};
    if (const std::optional<Error> error = obstacle(holder, release)) return *error;
    if (const std::optional<Error> error = obstacle(origin, {grant.from_center_id, "gain", grant.count, "", actor}))
        return *error;
    const SubUnitTypeUse use = lock_unit_type_use(*transaction_, holder.center_id, holder.unit_type);
    const std::int64_t units_left = (holder.target_held - grant.count) / holder.sub_units_per_unit;
    if (use.used_units > units_left)
        return Error{Errc::kConflict, "jobs use " + std::to_string(use.used_units) + " units of " + holder.center +
                                          "/" + holder.unit_type + ", and without these sub-units it would have " +
                                          std::to_string(units_left)};
    return add({.id = SubUnitRequestId::make(),
                .kind = kind_,
                .center_id = release.center_id,
                .action = release.action,
                .count = release.count,
                .reason = release.reason,
                .asked_by = actor,
                .undo_of = grant.id.value});
}

void SubUnitBroker::advance()
{
    for (SubUnitHoldingRecord& holding : holdings_) {
        if (holding.is_idle() && holding.reported_count != holding.registered_count) apply_total(holding);
    }
    for (SubUnitRequestRecord& request : requests_) {
        if (request.action != "release" || !request.is_open()) continue;
        SubUnitHoldingRecord& holding = *holding_of(request.center_id);
        if (request.state == "waiting" && holding.is_idle())
            start_release(holding, request);
        else if (request.state == "draining" && holding.is_settled())
            give_up_drained(holding, request);
    }
    return_undone();
    grant_free();
}

/// The center's settings say another total: what it has follows, as far as it has so many to take away. Where they
/// change too often, later.
void SubUnitBroker::apply_total(SubUnitHoldingRecord& holding)
{
    const std::int64_t change = std::max(holding.reported_count - holding.registered_count, -holding.target_held);
    if (change == 0) return;
    if (is_beyond_sub_unit_pace(*transaction_, holding.center_id))
        return log_limited("sub_unit_total_waits", {{"kind", kind_}, {"center", holding.center}});
    holding.registered_count += change;
    holding.held_count += change;
    set_target(holding, holding.held_count, holding.held_count);
    note(holding, {.event = "registered", .count = change, .actor = holding.center_id});
}

void SubUnitBroker::start_release(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request)
{
    if (request.count > holding.target_held)
        return end(request, "refused", "the center has only " + sub_units(holding.target_held), "broker");
    set_target(holding, holding.target_held, holding.target_held - request.count);
    request.state = "draining";
    request.version = holding.version;
    save(request);
    note(holding, {.event = "draining", .count = request.count, .request_id = request.id.value});
}

/// Once what is placed fits into what the center still offers. The router places no more than that, so it stays so.
void SubUnitBroker::give_up_drained(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request)
{
    const std::int64_t units = holding.target_offered / holding.sub_units_per_unit;
    const SubUnitTypeUse use = lock_unit_type_use(*transaction_, holding.center_id, holding.unit_type);
    if (use.offered_units > units || use.used_units > units || use.largest_attempt > units) return;
    set_target(holding, holding.target_offered, holding.target_offered);
    request.state = "giving";
    request.version = holding.version;
    save(request);
    note(holding, {.event = "giving", .count = request.count, .request_id = request.id.value});
}

void SubUnitBroker::return_undone()
{
    for (SubUnitRequestRecord& release : requests_) {
        if (!is_return(release)) continue;
        const std::optional<SubUnitGrantRecord> undone = select_sub_unit_grant(*transaction_, release.undo_of);
        SubUnitHoldingRecord* const origin = undone ? holding_of(undone->from_center_id) : nullptr;
        if (origin == nullptr || !can_take(*origin)) continue;
        const std::int64_t count = std::min(release.free_count, room_of(*origin));
        const std::int64_t held = origin->target_held + count;
        origin->held_count += count;
        set_target(*origin, held, held);
        grant(release, *origin, nullptr, count);
    }
}

void SubUnitBroker::grant_free()
{
    std::vector<FreedSubUnits> freed;
    std::vector<SubUnitWish> wishes;
    for (const SubUnitRequestRecord& request : requests_) {
        if (request.free_count > 0 && !is_return(request) && freed.size() < kMaxFreedAtOnce)
            freed.push_back({request.id.value, request.free_count, request.turn});
        if (request.action != "gain" || !request.is_open()) continue;
        const SubUnitHoldingRecord& holding = *find(request.center_id);
        const std::int64_t missing = std::min(request.count - request.granted_count, room_of(holding));
        if (can_take(holding)) wishes.push_back({request.id.value, missing, request.turn});
    }
    const std::vector<PlannedGrant> plan = plan_grants(freed, wishes);
    // A center gets all that is for it as one target.
    for (const SubUnitWish& wish : wishes) {
        SubUnitRequestRecord& gain = *request_of(wish.request_id);
        SubUnitHoldingRecord& holding = *holding_of(gain.center_id);
        const std::int64_t count = planned_count(plan, wish.request_id);
        if (count == 0) continue;
        holding.held_count += count;
        set_target(holding, holding.target_held + count, holding.target_held + count);
        for (const PlannedGrant& one : plan) {
            if (one.request_id == wish.request_id) grant(*request_of(one.release_id), holding, &gain, one.count);
        }
    }
}

void SubUnitBroker::grant(SubUnitRequestRecord& release, const SubUnitHoldingRecord& to, SubUnitRequestRecord* gain,
                          std::int64_t count)
{
    release.free_count -= count;
    release.granted_count += count;
    save(release);
    if (gain != nullptr) {
        gain->granted_count += count;
        if (gain->granted_count == gain->count) gain->state = "done";
        save(*gain);
    }
    const SubUnitGrantRecord granted{.id = SubUnitGrantId::make(),
                                     .kind = kind_,
                                     .release_id = release.id.value,
                                     .request_id = gain == nullptr ? "" : gain->id.value,
                                     .from_center_id = release.center_id,
                                     .to_center_id = to.center_id,
                                     .count = count,
                                     .version = to.version,
                                     .undo_of = gain == nullptr ? release.undo_of : ""};
    insert_sub_unit_grant(*transaction_, granted);
    note(to, {.event = "granted",
              .count = count,
              .request_id = gain == nullptr ? release.id.value : gain->id.value,
              .grant_id = granted.id.value,
              .detail = "from " + release.center});
}

} // namespace fathom::server
