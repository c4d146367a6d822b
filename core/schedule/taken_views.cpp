#include "core/schedule/taken_views.hpp"

#include <algorithm>

namespace fathom {

TakenViews::TakenViews(std::span<const UnitTypeView> given)
    : given_(given), hosts_(given), noted_(given.size()), copy_of_(given.size())
{
}

TakenViews::TakenUnits TakenViews::taken_by(const Reservation& reservation)
{
    return {reservation.from_s, reservation.release_s, reservation.unit_count, reservation.whole_device_units,
            reservation.memory};
}

void TakenViews::take_units(UnitTypeView& view, const TakenUnits& taken)
{
    if (view.whole_devices) {
        const std::int64_t units = taken.whole_device_units.value_or(
            newly_shared_units(view.availability, *view.whole_devices, taken.from_s, taken.release_s, taken.unit_count,
                               view.units_per_device));
        view.whole_devices->take(taken.from_s, taken.release_s, units);
    }
    view.availability.take(taken.from_s, taken.release_s, taken.unit_count);
    if (taken.memory) view.held_memory.add(*taken.memory, static_cast<double>(taken.unit_count));
}

void TakenViews::note(std::size_t index, const Reservation& reservation)
{
    const auto added = static_cast<std::uint32_t>(notes_.size());
    notes_.push_back({taken_by(reservation), kNone});
    Noted& noted = noted_[index];
    if (noted.first == kNone)
        noted.first = added;
    else
        notes_[noted.last].next = added;
    noted.last = added;
    const std::int64_t units = std::max<std::int64_t>(reservation.unit_count, 0);
    const bool is_for_ever = reservation.release_s == Availability::kForEver;
    if (reservation.from_s < kMinHeld_s || is_for_ever) noted.most_taken += units;
    noted.all_taken += units;
    if (!is_for_ever) noted.last_release_s = std::max(noted.last_release_s, reservation.release_s);
}

void TakenViews::take(std::size_t index, const Reservation& reservation)
{
    UnitTypeView& view = own(index);
    take_units(view, taken_by(reservation));
    use_holds(view.holds, {reservation.project, reservation.from_s, reservation.release_s, reservation.unit_count});
}

UnitTypeView& TakenViews::own(std::size_t index)
{
    UnitTypeView*& copy = copy_of_[index];
    if (copy != nullptr) return *copy;
    copy = &copies_.emplace_back(given_[index]);
    if (hosts_.has_others(index)) copy->other_cores = hosts_.others_of(index);
    for (std::uint32_t i = noted_[index].first; i != kNone; i = notes_[i].next)
        take_units(*copy, notes_[i].taken);
    noted_[index].first = kNone;
    return *copy;
}

std::optional<std::int64_t> TakenViews::most_taken(std::size_t index) const
{
    return has_copy(index) ? std::nullopt : std::optional(noted_[index].most_taken);
}

std::optional<std::int64_t> TakenViews::most_taken_ever(std::size_t index) const
{
    return has_copy(index) ? std::nullopt : std::optional(noted_[index].all_taken);
}

std::optional<double> TakenViews::last_release_s(std::size_t index) const
{
    return has_copy(index) ? std::nullopt : std::optional(noted_[index].last_release_s);
}

} // namespace fathom
