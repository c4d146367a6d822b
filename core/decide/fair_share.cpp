#include "core/decide/fair_share.hpp"

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

/// The share of one unit type; of a type that offers nothing any more whatever is held is all of it.
double part_of(double amount, std::int64_t unit_count)
{
    if (!(amount > 0)) return 0;
    return unit_count > 0 ? amount / static_cast<double>(unit_count) : amount;
}

ShareSums sums_of(const ProjectUse& project, const std::map<std::string, std::int64_t, std::less<>>& sizes)
{
    const auto size_of = [&](const std::string& unit_type) {
        const auto found = sizes.find(unit_type);
        return found == sizes.end() ? std::int64_t{0} : found->second;
    };
    ShareSums sums;
    if (project.share > 0 && std::isfinite(project.share)) sums.share = project.share;
    for (const auto& [unit_type, units] : project.units)
        sums.dominant = std::max(sums.dominant, std::min(1.0, part_of(static_cast<double>(units), size_of(unit_type))));
    for (const auto& [unit_type, unit_s] : project.used_unit_s) {
        // What was used of a unit type that is gone must not weigh more than it did: it weighs nothing.
        if (size_of(unit_type) > 0) sums.used += part_of(unit_s, size_of(unit_type));
    }
    return sums;
}

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
    std::map<std::string, std::int64_t, std::less<>> sizes;
    for (const UnitTypeSize& unit_type : unit_types)
        sizes[unit_type.unit_type] = unit_type.unit_count;
    // By name, so that sums are the same to the last bit whatever the order.
    std::map<std::string, ShareSums, std::less<>> by_name;
    for (const ProjectUse& project : projects)
        by_name.emplace(project.project, sums_of(project, sizes));
    double all_shares = 0;
    double all_used = 0;
    for (const auto& [name, sums] : by_name) {
        all_shares += sums.share;
        all_used += sums.used;
    }
    std::map<std::string, FairShare, std::less<>> shares;
    for (const auto& [name, sums] : by_name) {
        FairShare fair;
        fair.dominant_share = sums.dominant;
        fair.used_share = all_used > 0 ? sums.used / all_used : 0;
        fair.load = (fair.dominant_share + fair.used_share) / 2 / (sums.share / all_shares);
        shares.emplace(name, fair);
    }
    return shares;
}

double decay(std::chrono::seconds age, std::chrono::seconds half_life)
{
    if (age <= std::chrono::seconds(0)) return 1;
    if (half_life <= std::chrono::seconds(0)) return 0;
    return std::exp2(-Seconds(age).count() / Seconds(half_life).count());
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
