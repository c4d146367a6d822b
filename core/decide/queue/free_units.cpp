#include "core/decide/queue/free_units.hpp"

#include "core/decide/queue/order_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fathom {

void FreeUnits::set(std::size_t unit_type, std::int64_t count, double free_for_s)
{
    types_[unit_type].count = std::max<std::int64_t>(count, 0);
    types_[unit_type].free_for_s = free_for_s;
}

void FreeUnits::take(const JobOption& option)
{
    Type& type = types_[option.unit_type];
    type.count -= option.unit_count;
    if (type.is_reserved && option.run_s > type.reservation.start_s) type.reservation.spare_units -= option.unit_count;
}

void FreeUnits::give_back(const JobOption& option)
{
    Type& type = types_[option.unit_type];
    type.count += option.unit_count;
    if (type.is_reserved && option.run_s > type.reservation.start_s) type.reservation.spare_units += option.unit_count;
}

void FreeUnits::reserve(std::size_t unit_type, const BackfillReservation& reservation)
{
    types_[unit_type].is_reserved = true;
    types_[unit_type].reservation = reservation;
}

} // namespace fathom
