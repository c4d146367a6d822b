#include "core/schedule/taken_views.hpp"

#include <algorithm>

namespace fathom {

TakenViews::TakenViews(std::span<const UnitTypeView> given)
    : given_(given), hosts_(given), first_(given.size(), kNone), last_(given.size(), kNone), most_taken_(given.size()),
      copy_of_(given.size())
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
    if (first_[index] == kNone)
        first_[index] = added;
    else
        notes_[last_[index]].next = added;
    last_[index] = added;
    const bool counts = reservation.from_s < kMinHeld_s || reservation.release_s == Availability::kForEver;
    if (counts) most_taken_[index] += std::max<std::int64_t>(reservation.unit_count, 0);
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
    for (std::uint32_t i = first_[index]; i != kNone; i = notes_[i].next)
        take_units(*copy, notes_[i].taken);
    first_[index] = kNone;
    return *copy;
}

std::optional<std::int64_t> TakenViews::most_taken(std::size_t index) const
{
    return has_copy(index) ? std::nullopt : std::optional(most_taken_[index]);
}

std::optional<double> TakenViews::last_release_s(std::size_t index) const
{
    if (has_copy(index)) return std::nullopt;
    double last_s = 0;
    for (std::uint32_t i = first_[index]; i != kNone; i = notes_[i].next) {
        const double release_s = notes_[i].taken.release_s;
        if (release_s != Availability::kForEver) last_s = std::max(last_s, release_s);
    }
    return last_s;
}

} // namespace fathom
