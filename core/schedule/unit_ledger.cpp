#include "core/schedule/unit_ledger.hpp"

#include "core/decide/routing/route_columns.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace fathom {
namespace {

/// Takes work now, or at least probes.
bool is_open(const UnitTypeView& view)
{
    return view.closed_reason.empty() || view.is_open_to_probes;
}

} // namespace

UnitLedger::UnitLedger(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge, const UnitState& state,
                       std::shared_ptr<RouteColumns> columns)
    : taken_(std::make_shared<TakenViews>(unit_types)), views_(std::make_shared<UnitTypeList>(unit_types, taken_)),
      index_(columns && columns->size() == unit_types.size() ? columns->index()
                                                             : std::make_shared<const UnitTypeIndex>(*views_)),
      knowledge_(std::move(knowledge)),
      columns_(columns && columns->size() == unit_types.size() ? std::move(columns) : nullptr)
{
    taken_->expect(state.reserved.size() + state.planned.size());
    note_hosts(state.reserved); // before anything is copied
    if (state.calendar != nullptr) lay_calendar(*state.calendar, state.now);
    for (const KnownGpuRoom& one : state.gpu_rooms) {
        if (const auto found = index_of(one.unit_type_id.value)) own(*found).gpu_rooms.push_back(one.room);
    }
    lay_reservations(state.reserved);
    lay_reservations(state.planned);
}

UnitTypeView& UnitLedger::own(std::size_t index)
{
    UnitTypeView& copy = taken_->own(index);
    views_->show(index, copy);
    return copy;
}

void UnitLedger::begin_batch()
{
    if (table_) table_->begin_batch();
}

void UnitLedger::lay_calendar(const UnitCalendar& calendar, Timestamp now)
{
    for (const KnownHold& known : calendar.holds) {
        const auto found = index_of(known.unit_type_id.value);
        const Hold hold = hold_from(known, now);
        if (found && hold.to_s > 0) own(*found).holds.push_back(hold);
    }
    for (const KnownClosure& known : calendar.closures) {
        const auto found = index_of(known.unit_type_id.value);
        const Closure closure = closure_from(known, now);
        if (!found || closure.to_s <= 0) continue;
        UnitTypeView& view = own(*found);
        view.close(closure.from_s, closure.to_s);
        view.closures.push_back(closure);
    }
}

void UnitLedger::note_hosts(std::span<const Reservation> reserved)
{
    HostCores& hosts = taken_->hosts();
    if (hosts.is_empty()) return;
    std::optional<std::size_t> index;
    for (const Reservation& one : reserved) {
        index = index_->find_after(index, one.unit_type_id.value);
        if (index) hosts.note(*index, one);
    }
    for (std::size_t i = 0; i < views_->size(); ++i) {
        if (hosts.has_others(i)) views_->show_late(i);
    }
}

void UnitLedger::lay_reservations(std::span<const Reservation> reservations)
{
    const Reservation* last = nullptr; // of those of one unit type in a row only the first is looked up
    std::optional<std::size_t> index;
    for (const Reservation& one : reservations) {
        if (last == nullptr || one.unit_type_id != last->unit_type_id)
            index = index_->find_after(index, one.unit_type_id.value);
        last = &one;
        if (!index) continue;
        if (!may_be_late(*index)) {
            take(*index, one);
            continue;
        }
        taken_->note(*index, one);
        views_->show_late(*index);
    }
}

bool UnitLedger::may_be_late(std::size_t index) const
{
    if (taken_->has_copy(index)) return false; // what came before is laid on it already
    if (taken_->is_late(index)) return true;
    // Where something is held it depends on whose job it is.
    return columns_ ? columns_->idle_units(index) > 0 : views_->given(index).holds.empty();
}

void UnitLedger::note_before(std::size_t index)
{
    const UnitTypeView& view = (*views_)[index];
    if (trial_)
        trial_->push_back({index, view.availability, view.whole_devices, view.gpu_rooms, view.holds, view.held_memory});
}

void UnitLedger::admit(const UnitTypeId& id, const GpuMemoryRequest& need)
{
    const auto found = index_of(id.value);
    if (!found || need.all_bytes() == 0 || views_->given(*found).gpu_rooms.empty()) return;
    note_before(*found);
    for (GpuRoom& room : own(*found).gpu_rooms)
        room.admit(need);
    if (table_) table_->changed(*found);
}

std::vector<KnownGpuRoom> UnitLedger::gpu_rooms() const
{
    std::vector<KnownGpuRoom> rooms;
    for (std::size_t i = 0; i < views_->size(); ++i) {
        const UnitTypeView& view = views_->given(i); // what is noted only takes units
        for (const GpuRoom& room : view.gpu_rooms)
            rooms.push_back({view.id, room});
    }
    return rooms;
}

void UnitLedger::reserve(const Reservation& reservation)
{
    const auto found = index_of(reservation.unit_type_id.value);
    if (!found) return;
    note_before(*found);
    take(*found, reservation);
    if (table_) table_->changed(*found);
    reserved_later_.push_back(reservation);
}

void UnitLedger::take(std::size_t index, const Reservation& reservation)
{
    taken_->take(index, reservation);
    views_->show(index, taken_->own(index));
}

const UnitTypeView* UnitLedger::find(const UnitTypeId& id) const
{
    const auto found = index_of(id.value);
    return found ? &(*views_)[*found] : nullptr;
}

void UnitLedger::change(const UnitTypeId& id, const std::function<void(UnitTypeView&)>& change)
{
    FATHOM_ASSERT(!table_);
    const auto found = index_of(id.value);
    if (!found) return;
    UnitTypeView& view = own(*found);
    const MeasuredOperator* const measured = view.measured.data();
    const UnitTypeFacts facts(view);
    change(view);
    if (columns_ == nullptr) return;
    if (view.measured.data() != measured) { // they have what was measured before
        columns_ = nullptr;
    } else if (const UnitTypeFacts now(view); now != facts) {
        columns_ = std::make_shared<RouteColumns>(*columns_);
        columns_->set_facts(*found, now);
    }
}

void UnitLedger::begin_trial()
{
    trial_.emplace();
    before_trial_ = reserved_later_.size();
}

void UnitLedger::undo_trial()
{
    if (!trial_) return;
    for (auto before = trial_->rbegin(); before != trial_->rend(); ++before) {
        UnitTypeView& view = own(before->index);
        view.availability = std::move(before->availability);
        view.whole_devices = std::move(before->whole_devices);
        view.gpu_rooms = std::move(before->gpu_rooms);
        view.holds = std::move(before->holds);
        view.held_memory = before->held_memory;
        if (table_) table_->changed(before->index);
    }
    trial_.reset();
    reserved_later_.resize(before_trial_);
}

RouteTable& UnitLedger::table()
{
    if (!table_) table_.emplace(views_, knowledge_, columns_);
    return *table_;
}

Decision UnitLedger::decide(const RouteRequest& request)
{
    return route(request, table());
}

BriefDecision UnitLedger::decide_briefly(const RouteRequest& request)
{
    return route_briefly(request, table());
}

OfferedPlaces UnitLedger::offered_places(const RouteRequest& request)
{
    return fathom::offered_places(request, table());
}

bool UnitLedger::has_free_unit() const
{
    for (std::size_t i = 0; i < views_->size(); ++i) {
        if (!is_open(views_->given(i))) continue;
        const std::optional<std::int64_t> taken = views_->most_taken(i);
        const bool is_surely_free = taken && columns_ && columns_->idle_units(i) > *taken;
        if (is_surely_free || (*views_)[i].availability.free_now() > 0) return true;
    }
    return false;
}

void count_taken(UnitCounts& taken, std::span<const Reservation> reservations)
{
    for (const Reservation& one : reservations) {
        if (one.from_s <= 0) taken[one.unit_type_id.value] += one.unit_count;
    }
}

bool has_free_unit(std::span<const UnitTypeView> unit_types, const UnitCalendar& calendar, const UnitCounts& taken,
                   Timestamp now)
{
    std::unordered_set<std::string_view> closed;
    for (const KnownClosure& one : calendar.closures) {
        if (one.from <= now && one.to > now) closed.insert(one.unit_type_id.value);
    }
    return std::any_of(unit_types.begin(), unit_types.end(), [&](const UnitTypeView& view) {
        if (!is_open(view) || closed.contains(view.id.value)) return false;
        const auto found = taken.find(view.id.value);
        return view.availability.free_now() > (found == taken.end() ? 0 : found->second);
    });
}

} // namespace fathom
