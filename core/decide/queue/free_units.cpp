#include "core/decide/queue/free_units.hpp"

#include <algorithm>

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
    if (type.is_kept && option.run_s > type.kept.start_s) type.kept.spare_units -= option.unit_count;
}

void FreeUnits::give_back(const JobOption& option)
{
    Type& type = types_[option.unit_type];
    type.count += option.unit_count;
    if (type.is_kept && option.run_s > type.kept.start_s) type.kept.spare_units += option.unit_count;
}

void FreeUnits::keep(std::size_t unit_type, const KeptUnits& kept)
{
    types_[unit_type].is_kept = true;
    types_[unit_type].kept = kept;
}

} // namespace fathom
