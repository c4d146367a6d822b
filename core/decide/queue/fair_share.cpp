#include "core/decide/queue/fair_share.hpp"

#include "core/base/portable_math.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

double part_of(double amount, std::int64_t unit_count)
{
    return amount > 0 ? amount / static_cast<double>(unit_count) : 0;
}

using Sizes = std::map<std::string_view, std::int64_t>; ///< by unit type

Sizes sizes_of(std::span<const UnitTypeSize> unit_types)
{
    Sizes sizes;
    for (const UnitTypeSize& unit_type : unit_types)
        sizes.insert_or_assign(unit_type.unit_type, unit_type.unit_count);
    return sizes;
}

std::int64_t size_of(const Sizes& sizes, const std::string& unit_type)
{
    const auto found = sizes.find(unit_type);
    return found == sizes.end() ? 0 : found->second;
}

/// Calls note(amount, size of the unit type) for each. Both are in order of unit types, and a project that has used
/// much has used nearly all: so the next size is mostly the one that is looked for.
template <class Amounts, class Note>
void with_sizes(const Amounts& amounts, const Sizes& sizes, Note note)
{
    auto size = sizes.begin();
    for (const auto& [unit_type, amount] : amounts) {
        if (size == sizes.end() || size->first != unit_type) size = sizes.lower_bound(unit_type);
        const bool is_there = size != sizes.end() && size->first == unit_type;
        note(amount, is_there ? size->second : 0);
        if (is_there) ++size;
    }
}

/// Above 1 where a project is given more than there is, one after the other.
double dominant_part(std::int64_t units, std::int64_t unit_count)
{
    if (unit_count <= 0) return units > 0 ? 1 : 0;
    return part_of(static_cast<double>(units), unit_count);
}

/// A project with the sizes of the unit types taken out: what it holds and has used as shares of them.
struct ShareSums {
    double share = 1;
    double dominant{};
    double used{};

    void add_held(std::int64_t units, std::int64_t unit_count)
    {
        dominant = std::max(dominant, dominant_part(units, unit_count));
    }
    void add_used(double unit_s, std::int64_t unit_count)
    {
        // What was used of a unit type that is gone must not weigh more than it did: it weighs nothing.
        if (unit_count > 0) used += part_of(unit_s, unit_count);
    }
};

ShareSums sums_of(const ProjectUse& project, const Sizes& sizes)
{
    ShareSums sums;
    if (project.share > 0 && std::isfinite(project.share)) sums.share = project.share;
    with_sizes(project.units, sizes, [&](std::int64_t units, std::int64_t size) { sums.add_held(units, size); });
    with_sizes(project.used_unit_s, sizes, [&](double unit_s, std::int64_t size) { sums.add_used(unit_s, size); });
    return sums;
}

/// Of all projects.
struct AllSums {
    double shares = 0;
    double used = 0;

    void add(const ShareSums& sums)
    {
        shares += sums.share;
        used += sums.used;
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

/// Progressive filling with everything numbered.
/// @param units_of  what a project holds of a unit type before all takes.
/// @param size_of   of a unit type.
template <class UnitsOf, class SizeOf>
std::vector<double> fill(std::vector<ShareSums> projects, std::span<const NumberedTake> takes, UnitsOf units_of,
                         SizeOf size_of)
{
    AllSums all;
    for (const ShareSums& sums : projects)
        all.add(sums);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> held; ///< by project and unit type, where one took
    std::vector<double> loads;
    loads.reserve(takes.size());
    for (const NumberedTake& take : takes) {
        ShareSums& sums = projects[take.project];
        loads.push_back(all.share_of(sums).load);
        if (take.units == 0) continue;
        const auto [units, is_first] = held.try_emplace({take.project, take.unit_type}, 0);
        if (is_first) units->second = units_of(take.project, take.unit_type);
        units->second += take.units;
        sums.add_held(units->second, size_of(take.unit_type));
    }
    return loads;
}

/// Numbers in the order of names, so that sums are the same to the last bit whatever the order in which they come.
using Numbers = std::map<std::string_view, std::size_t>;

void number(Numbers& names)
{
    std::size_t next = 0;
    for (auto& [name, its_number] : names)
        its_number = next++;
}

std::string quota_text(double amount)
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
    std::map<std::string_view, ShareSums> by_name; // sums by name, so that they are the same whatever the order
    for (const ProjectUse& project : projects)
        by_name.emplace(project.project, sums_of(project, sizes));
    AllSums all;
    for (const auto& [name, sums] : by_name)
        all.add(sums);
    std::map<std::string, FairShare, std::less<>> shares;
    for (auto& [name, sums] : by_name) {
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
    Numbers project_numbers;
    Numbers type_numbers;
    for (const ProjectUse& project : projects)
        project_numbers.emplace(project.project, 0);
    for (const PlannedTake& take : takes) {
        project_numbers.emplace(take.project, 0);
        type_numbers.emplace(take.unit_type, 0);
    }
    number(project_numbers);
    number(type_numbers);
    std::vector<ShareSums> sums(project_numbers.size());
    std::vector<const ProjectUse*> uses(project_numbers.size());
    for (const ProjectUse& project : projects) {
        const std::size_t its_number = project_numbers.at(project.project);
        if (uses[its_number] != nullptr) continue;
        uses[its_number] = &project;
        sums[its_number] = sums_of(project, sizes);
    }
    std::vector<const std::string*> types(type_numbers.size());
    std::vector<NumberedTake> numbered;
    numbered.reserve(takes.size());
    for (const PlannedTake& take : takes) {
        numbered.push_back({project_numbers.at(take.project), type_numbers.at(take.unit_type), take.units});
        types[numbered.back().unit_type] = &take.unit_type;
    }
    const auto units_of = [&](std::size_t project, std::size_t unit_type) -> std::int64_t {
        if (uses[project] == nullptr) return 0;
        const auto units = uses[project]->units.find(*types[unit_type]);
        return units == uses[project]->units.end() ? 0 : units->second;
    };
    return fill(std::move(sums), numbered, units_of,
                [&](std::size_t unit_type) { return size_of(sizes, *types[unit_type]); });
}

std::vector<double> progressive_loads(const NumberedUses& uses, std::span<const NumberedTake> takes)
{
    const std::size_t types = uses.unit_counts.size();
    std::vector<ShareSums> sums(types > 0 ? uses.units.size() / types : 0);
    for (std::size_t project = 0; project < sums.size(); ++project) {
        for (std::size_t type = 0; type < types; ++type) {
            sums[project].add_held(uses.units[project * types + type], uses.unit_counts[type]);
            sums[project].add_used(uses.used_unit_s[project * types + type], uses.unit_counts[type]);
        }
    }
    return fill(
        std::move(sums), takes,
        [&](std::size_t project, std::size_t type) { return uses.units[project * types + type]; },
        [&](std::size_t type) { return uses.unit_counts[type]; });
}

double decay(std::chrono::seconds age, std::chrono::seconds half_life)
{
    if (age <= std::chrono::seconds(0)) return 1;
    if (half_life <= std::chrono::seconds(0)) return 0;
    return portable::exp2(-Seconds(age).count() / Seconds(half_life).count());
}

QuotaUse quota_use(std::int64_t unit_count, double run_s, double score, double cost)
{
    constexpr double kHour_s = 3600;
    constexpr double kScoreUnit = 1000; // what a score-hour is counted in (Quota::max_score_hours)
    return {unit_count, static_cast<double>(unit_count) * run_s / kHour_s * score / kScoreUnit, cost};
}

std::string quota_obstacle(const Quota& quota, const QuotaUse& used, const QuotaUse& wanted)
{
    if (quota.max_units > 0 && used.units + wanted.units > quota.max_units)
        return fmt::format("its project holds {} of the {} units that it may hold at once, and this takes {}",
                           used.units, quota.max_units, wanted.units);
    if (is_above(used.score_hours + wanted.score_hours, quota.max_score_hours))
        return fmt::format("its project has taken {} of its {} score-hours of this month, and this takes about {}",
                           quota_text(used.score_hours), quota_text(quota.max_score_hours),
                           quota_text(wanted.score_hours));
    if (is_above(used.cost + wanted.cost, quota.max_cost))
        return fmt::format("its project has spent {} of the {} that it may in this month, and this costs about {}",
                           quota_text(used.cost), quota_text(quota.max_cost), quota_text(wanted.cost));
    return {};
}

bool is_beyond_quota(const Quota& quota, const QuotaUse& wanted)
{
    return !quota_obstacle(quota, {}, wanted).empty();
}

} // namespace fathom
