#include "core/decide/free_units.hpp"

#include <algorithm>
#include <tuple>

namespace fathom {

FreeUnits::FreeUnits(std::span<const UnitTypeLoad> unit_types) : unit_types_(unit_types), kept_(unit_types.size())
{
    free_.reserve(unit_types.size());
    for (const UnitTypeLoad& type : unit_types)
        free_.push_back(std::max<std::int64_t>(type.free_units, 0));
}

bool FreeUnits::fits(const JobOption& option) const
{
    if (option.unit_count > free_[option.unit_type]) return false;
    const std::optional<KeptUnits>& kept = kept_[option.unit_type];
    return !kept || option.run_s <= kept->start_s || option.unit_count <= kept->spare_units;
}

void FreeUnits::take(const JobOption& option)
{
    free_[option.unit_type] -= option.unit_count;
    std::optional<KeptUnits>& kept = kept_[option.unit_type];
    if (kept && option.run_s > kept->start_s) kept->spare_units -= option.unit_count;
}

void FreeUnits::give_back(const JobOption& option)
{
    free_[option.unit_type] += option.unit_count;
    std::optional<KeptUnits>& kept = kept_[option.unit_type];
    if (kept && option.run_s > kept->start_s) kept->spare_units += option.unit_count;
}

std::int64_t FreeUnits::count(std::size_t unit_type) const
{
    return free_[unit_type];
}

bool FreeUnits::is_kept(std::size_t unit_type) const
{
    return kept_[unit_type].has_value();
}

KeptUnits FreeUnits::plan_keeping(std::size_t unit_type, std::int64_t unit_count) const
{
    std::int64_t units = free_[unit_type];
    for (const UnitRelease& release : sorted_releases(unit_types_[unit_type])) {
        units += release.unit_count;
        if (units >= unit_count) return {std::max(release.in_s, 0.0), units - unit_count, true};
    }
    return {0, std::max<std::int64_t>(free_[unit_type] - unit_count, 0), false};
}

void FreeUnits::keep(std::size_t unit_type, const KeptUnits& kept)
{
    kept_[unit_type] = kept;
}

std::vector<UnitRelease> sorted_releases(const UnitTypeLoad& unit_type)
{
    std::vector<UnitRelease> releases = unit_type.releases;
    std::sort(releases.begin(), releases.end(), [](const UnitRelease& a, const UnitRelease& b) {
        return std::tie(a.in_s, a.unit_count) < std::tie(b.in_s, b.unit_count);
    });
    return releases;
}

} // namespace fathom
