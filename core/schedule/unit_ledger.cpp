#include "core/schedule/unit_ledger.hpp"

#include "core/decide/routing/route_columns.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace fathom {
namespace {

/// Takes work now, or at least probes.
bool is_open(const UnitTypeView& view)
{
    return view.closed_reason.empty() || view.is_open_to_probes;
}

} // namespace

UnitLedger::UnitLedger(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge, const UnitCalendar& calendar,
                       std::span<const Reservation> reserved, std::span<const Reservation> planned, Timestamp now,
                       std::shared_ptr<RouteColumns> columns, std::span<const KnownGpuRoom> gpu_rooms)
    : views_(std::make_shared<UnitTypeList>(unit_types)),
      index_(columns && columns->size() == unit_types.size() ? columns->index()
                                                             : std::make_shared<const UnitTypeIndex>(*views_)),
      copy_of_(unit_types.size()), knowledge_(std::move(knowledge)), columns_(std::move(columns))
{
    lay_calendar(calendar, now);
    for (const KnownGpuRoom& one : gpu_rooms) {
        if (const auto found = index_of(one.unit_type_id.value)) own(*found).gpu_rooms.push_back(one.room);
    }
    lay_reservations(reserved);
    lay_reservations(planned);
}

UnitTypeView& UnitLedger::own(std::size_t index)
{
    UnitTypeView*& copy = copy_of_[index];
    if (copy == nullptr) {
        copy = &copies_.emplace_back((*views_)[index]);
        views_->show(index, *copy);
    }
    return *copy;
}

void UnitLedger::begin_page()
{
    if (table_) table_->begin_page();
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

void UnitLedger::lay_reservations(std::span<const Reservation> reservations)
{
    const Reservation* last = nullptr; // of those of one unit type in a row only the first is looked up
    std::optional<std::size_t> index;
    for (const Reservation& one : reservations) {
        if (last == nullptr || one.unit_type_id != last->unit_type_id) index = index_of(one.unit_type_id.value);
        last = &one;
        if (index) take(*index, one);
    }
}

void UnitLedger::note_before(std::size_t index)
{
    const UnitTypeView& view = (*views_)[index];
    if (trial_) trial_->push_back({index, view.availability, view.whole_devices, view.gpu_rooms, view.holds});
}

void UnitLedger::admit(const UnitTypeId& id, const GpuMemoryRequest& need)
{
    const auto found = index_of(id.value);
    if (!found || need.all_bytes() == 0 || (*views_)[*found].gpu_rooms.empty()) return;
    note_before(*found);
    for (GpuRoom& room : own(*found).gpu_rooms)
        room.admit(need);
    if (table_) table_->changed(*found);
}

std::vector<KnownGpuRoom> UnitLedger::gpu_rooms() const
{
    std::vector<KnownGpuRoom> rooms;
    for (const UnitTypeView& view : *views_) {
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
    UnitTypeView& view = own(index);
    if (view.whole_devices) {
        const std::int64_t units = reservation.whole_device_units.value_or(
            newly_shared_units(view.availability, *view.whole_devices, reservation.from_s, reservation.release_s,
                               reservation.unit_count, view.units_per_device));
        view.whole_devices->take(reservation.from_s, reservation.release_s, units);
    }
    view.availability.take(reservation.from_s, reservation.release_s, reservation.unit_count);
    use_holds(view.holds, {reservation.project, reservation.from_s, reservation.release_s, reservation.unit_count});
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
    return std::any_of(views_->begin(), views_->end(),
                       [](const UnitTypeView& view) { return is_open(view) && view.availability.free_now() > 0; });
}

bool has_free_unit(std::span<const UnitTypeView> unit_types, const UnitCalendar& calendar,
                   std::span<const Reservation> in_use, Timestamp now)
{
    std::unordered_map<std::string_view, std::int64_t> taken;
    for (const Reservation& one : in_use) {
        if (one.from_s <= 0) taken[one.unit_type_id.value] += one.unit_count;
    }
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
