#include "core/decide/fair_share.hpp"

#include "core/base/portable_math.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// A project with the sizes of the unit types taken out: what it holds and has used as shares of them.
struct ShareSums {
    double share = 1;
    double dominant{};
    double used{};
};

double part_of(double amount, std::int64_t unit_count)
{
    return amount > 0 ? amount / static_cast<double>(unit_count) : 0;
}

using Sizes = std::map<std::string, std::int64_t, std::less<>>; ///< by unit type

Sizes sizes_of(std::span<const UnitTypeSize> unit_types)
{
    Sizes sizes;
    for (const UnitTypeSize& unit_type : unit_types)
        sizes[unit_type.unit_type] = unit_type.unit_count;
    return sizes;
}

std::int64_t size_of(const Sizes& sizes, const std::string& unit_type)
{
    const auto found = sizes.find(unit_type);
    return found == sizes.end() ? 0 : found->second;
}

/// Above 1 where a project is given more than there is, one after the other.
double dominant_part(std::int64_t units, std::int64_t unit_count)
{
    if (unit_count <= 0) return units > 0 ? 1 : 0;
    return part_of(static_cast<double>(units), unit_count);
}

ShareSums sums_of(const ProjectUse& project, const Sizes& sizes)
{
    ShareSums sums;
    if (project.share > 0 && std::isfinite(project.share)) sums.share = project.share;
    for (const auto& [unit_type, units] : project.units)
        sums.dominant = std::max(sums.dominant, dominant_part(units, size_of(sizes, unit_type)));
    for (const auto& [unit_type, unit_s] : project.used_unit_s) {
        // What was used of a unit type that is gone must not weigh more than it did: it weighs nothing.
        if (const std::int64_t size = size_of(sizes, unit_type); size > 0) sums.used += part_of(unit_s, size);
    }
    return sums;
}

/// All projects. By name, so that sums are the same to the last bit whatever the order.
struct AllSums {
    std::map<std::string, ShareSums, std::less<>> by_name;
    double shares = 0;
    double used = 0;

    void add_up()
    {
        for (const auto& [name, sums] : by_name) {
            shares += sums.share;
            used += sums.used;
        }
    }
    FairShare share_of(const ShareSums& sums) const
    {
        FairShare fair;
        fair.dominant_share = sums.dominant;
        fair.used_share = used > 0 ? sums.used / used : 0;
        fair.load = (fair.dominant_share + fair.used_share) / 2 / (sums.share / shares);
        return fair;
    }
};

std::string amount_text(double amount)
{
    return fmt::format("{:.2f}", amount);
}

/// Sums of many small amounts must not refuse the last one that fits.
bool is_above(double amount, double most)
{
    return most > 0 && amount > most * (1 + 1e-9);
}

} // namespace

std::map<std::string, FairShare, std::less<>> fair_shares(std::span<const ProjectUse> projects,
                                                          std::span<const UnitTypeSize> unit_types)
{
    const Sizes sizes = sizes_of(unit_types);
    AllSums all;
    for (const ProjectUse& project : projects)
        all.by_name.emplace(project.project, sums_of(project, sizes));
    all.add_up();
    std::map<std::string, FairShare, std::less<>> shares;
    for (auto& [name, sums] : all.by_name) {
        // A center may shrink below what it has given away.
        sums.dominant = std::min(1.0, sums.dominant);
        shares.emplace(name, all.share_of(sums));
    }
    return shares;
}

std::vector<double> progressive_loads(std::span<const ProjectUse> projects, std::span<const UnitTypeSize> unit_types,
                                      std::span<const PlannedTake> takes)
{
    const Sizes sizes = sizes_of(unit_types);
    std::map<std::string, ProjectUse, std::less<>> uses;
    AllSums all;
    for (const ProjectUse& project : projects) {
        uses.emplace(project.project, project);
        all.by_name.emplace(project.project, sums_of(project, sizes));
    }
    for (const PlannedTake& take : takes)
        all.by_name.emplace(take.project, ShareSums());
    all.add_up();
    std::vector<double> loads;
    loads.reserve(takes.size());
    for (const PlannedTake& take : takes) {
        ShareSums& sums = all.by_name.at(take.project);
        loads.push_back(all.share_of(sums).load);
        std::int64_t& units = uses[take.project].units[take.unit_type];
        units += take.units;
        sums.dominant = std::max(sums.dominant, dominant_part(units, size_of(sizes, take.unit_type)));
    }
    return loads;
}

double decay(std::chrono::seconds age, std::chrono::seconds half_life)
{
    if (age <= std::chrono::seconds(0)) return 1;
    if (half_life <= std::chrono::seconds(0)) return 0;
    return portable::exp2(-Seconds(age).count() / Seconds(half_life).count());
}

std::string quota_obstacle(const Quota& quota, const QuotaUse& used, const QuotaUse& wanted)
{
    if (quota.most_units > 0 && used.units + wanted.units > quota.most_units)
        return fmt::format("its project holds {} of the {} units that it may hold at once, and this takes {}",
                           used.units, quota.most_units, wanted.units);
    if (is_above(used.score_hours + wanted.score_hours, quota.most_score_hours))
        return fmt::format("its project has taken {} of its {} score-hours of this month, and this takes about {}",
                           amount_text(used.score_hours), amount_text(quota.most_score_hours),
                           amount_text(wanted.score_hours));
    if (is_above(used.cost + wanted.cost, quota.most_cost))
        return fmt::format("its project has spent {} of the {} that it may in this month, and this costs about {}",
                           amount_text(used.cost), amount_text(quota.most_cost), amount_text(wanted.cost));
    return {};
}

bool is_beyond_quota(const Quota& quota, const QuotaUse& wanted)
{
    return !quota_obstacle(quota, {}, wanted).empty();
}

} // namespace fathom
