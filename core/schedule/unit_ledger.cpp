#include "core/schedule/unit_ledger.hpp"

#include "core/decide/routing/gpu_room_cost.hpp"
#include "core/decide/routing/route_columns.hpp"
#include "core/decide/routing/route_json.hpp"

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
        const auto found = index_of(one.unit_type_id.value);
        if (!found) continue;
        UnitTypeView& view = own(*found);
        if (view.expected_gpu_rooms.empty()) view.expected_gpu_rooms = view.gpu_rooms;
        view.gpu_rooms.push_back(one.room);
        view.expected_gpu_rooms.push_back(one.expected.value_or(one.room));
    }
    for (const KnownGpus& one : state.gpus) {
        if (const auto found = index_of(one.unit_type_id.value))
            gpus_.insert_or_assign(*found, std::make_shared<const std::vector<TenantedGpu>>(one.gpus));
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
        trial_->push_back({index, view.availability, view.whole_devices, view.gpu_rooms, view.expected_gpu_rooms,
                           view.holds, view.held_memory, gpus_at(index)});
}

void UnitLedger::admit(const UnitTypeId& id, const GpuMemoryRequest& need, const GpuMemoryRequest& learned)
{
    const auto found = index_of(id.value);
    const bool is_said = need.all_bytes() > 0;
    const GpuMemoryRequest& expected = is_said ? need : learned;
    if (!found || expected.all_bytes() == 0 || views_->given(*found).gpu_rooms.empty()) return;
    note_before(*found);
    UnitTypeView& view = own(*found);
    if (view.expected_gpu_rooms.empty()) view.expected_gpu_rooms = view.gpu_rooms;
    expect_in_room(view.expected_gpu_rooms, expected);
    for (std::size_t i = 0; is_said && i < view.gpu_rooms.size(); ++i)
        view.gpu_rooms[i].admit(need);
    if (table_) table_->changed(*found);
}

void UnitLedger::know_pairs(std::shared_ptr<const PairTable> pairs)
{
    if (!pairs && !pairs_) return;
    pairs_ = std::move(pairs);
    for (const auto& [index, gpus] : gpus_)
        show_gpus(index, gpus);
}

void UnitLedger::show_gpus(std::size_t index, const Gpus& gpus)
{
    const bool is_known = pairs_ && gpus;
    own(index).gpu_neighbours = is_known ? std::make_shared<const GpuTenancy>(gpus, pairs_) : nullptr;
    if (table_) table_->changed(index);
}

UnitLedger::Gpus UnitLedger::gpus_at(std::size_t index) const
{
    const auto found = gpus_.find(index);
    return found == gpus_.end() ? nullptr : found->second;
}

void UnitLedger::put_back_gpus(std::size_t index, const Gpus& gpus)
{
    if (gpus == gpus_at(index)) return;
    if (gpus)
        gpus_.insert_or_assign(index, gpus);
    else
        gpus_.erase(index);
    show_gpus(index, gpus);
}

void UnitLedger::place_on_gpus(const UnitTypeId& id, const GpuTenant& tenant, std::int64_t unit_count,
                               bool is_exclusive)
{
    const auto found = index_of(id.value);
    if (!pairs_ || !found) return;
    const UnitTypeView& view = views_->given(*found);
    if (view.units_per_device <= 1 || view.unit_count / view.units_per_device > kMaxForeseenGpus) return;
    note_before(*found);
    const Gpus known = gpus_at(*found);
    std::vector<TenantedGpu> gpus = known ? *known : gpus_of(view.unit_count, view.units_per_device);
    if (is_exclusive)
        place_alone(gpus, tenant, unit_count);
    else
        place_tenant(gpus, tenant, unit_count, *pairs_);
    const auto now = std::make_shared<const std::vector<TenantedGpu>>(std::move(gpus));
    gpus_.insert_or_assign(*found, now);
    show_gpus(*found, now);
}

std::vector<KnownGpus> UnitLedger::gpus() const
{
    std::vector<KnownGpus> all;
    for (const auto& [index, gpus] : gpus_)
        all.push_back({views_->given(index).id, *gpus});
    return all;
}

void UnitLedger::tell_gpu_shares(RouteRequest& request) const
{
    if (request.gpu_kind.empty()) return;
    for (const auto& [index, gpus] : gpus_) {
        const UnitTypeView& view = views_->given(index);
        if (!view.gpu_neighbours || !view.gpu_neighbours->knows(request.gpu_kind)) continue;
        if (const auto expected = view.gpu_neighbours->expect(request.gpu_kind))
            request.gpu_shares.insert_or_assign(view.id.value, *expected);
        else
            request.gpu_shares.erase(view.id.value);
    }
}

std::vector<KnownGpuRoom> UnitLedger::gpu_rooms() const
{
    std::vector<KnownGpuRoom> rooms;
    for (std::size_t i = 0; i < views_->size(); ++i) {
        const UnitTypeView& view = views_->given(i); // what is noted only takes units
        for (std::size_t gpu = 0; gpu < view.gpu_rooms.size(); ++gpu) {
            const GpuRoom& room = view.gpu_rooms[gpu];
            KnownGpuRoom& known = rooms.emplace_back(KnownGpuRoom{view.id, room, {}});
            const bool is_expected = gpu < view.expected_gpu_rooms.size() && view.expected_gpu_rooms[gpu] != room;
            if (is_expected) known.expected = view.expected_gpu_rooms[gpu];
        }
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
        view.expected_gpu_rooms = std::move(before->expected_gpu_rooms);
        view.holds = std::move(before->holds);
        view.held_memory = before->held_memory;
        put_back_gpus(before->index, before->gpus);
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

std::string UnitLedger::inputs_of(const RouteRequest& request, const Decision& decision)
{
    InputTexts& texts = columns_ ? columns_->input_texts() : input_texts_;
    if (request.gpu_kind.empty()) return route_inputs_text(request, *views_, knowledge_, decision, texts);
    // So that it can be made again without those who were placed on GPUs before it.
    RouteRequest now = request;
    tell_gpu_shares(now);
    return route_inputs_text(now, *views_, knowledge_, decision, texts);
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
