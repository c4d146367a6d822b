#pragma once

#include "core/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Who is next when projects compete.
namespace fathom {

/// Half of a use counts after so long.
inline constexpr std::chrono::seconds kUseHalfLife = std::chrono::hours(24 * 7);

/// What a project may have and has had.
struct ProjectUse {
    std::string project;
    double share = 1; ///< weight, above 0
    /// Unit-seconds that it has used, each unit type by itself, decayed: half counts after the half-life.
    std::map<std::string, double, std::less<>> used_unit_s; ///< by unit type id
    std::map<std::string, std::int64_t, std::less<>> units; ///< held now, by unit type id
};

/// A unit type's size, for shares of it.
struct UnitTypeSize {
    std::string unit_type; ///< id
    std::int64_t unit_count{};
};

/// Where a project stands.
struct FairShare {
    /// 0..1: the largest of its shares of any unit type, held now (dominant-resource fairness).
    double dominant_share{};
    /// 0..1: of the network's decayed use: the sum over the unit types of unit-seconds / units, over that of all
    /// projects; ten seconds of a whole unit type count the same for every type.
    double used_share{};
    /// Below 1: has had less than its share, above: more. (dominant_share + used_share) / 2, over the project's part of
    /// the shares of all that are named.
    double load{};
};

/// Dominant-resource fairness (Ghodsi et al., NSDI 2011) over unit types with decayed use, weighted by shares. Order
/// does not matter. To be named: projects that have used or want anything, each once; one that is not stands at 0.
/// Unit types that are not in `unit_types`, or have no units left, do not count in what was used, and are held whole.
std::map<std::string, FairShare, std::less<>> fair_shares(std::span<const ProjectUse> projects,
                                                          std::span<const UnitTypeSize> unit_types);

/// Units that a job would take.
struct PlannedTake {
    std::string project;
    std::string unit_type; ///< id
    std::int64_t units{};
};

/// Progressive filling: for each take the load that its project has when all takes before it were made. Taking the one
/// of least load first, again and again, is dominant-resource fairness. Projects that are not named have a share of 1.
std::vector<double> progressive_loads(std::span<const ProjectUse> projects, std::span<const UnitTypeSize> unit_types,
                                      std::span<const PlannedTake> takes);

/// What projects hold and have used, each with a share of 1, where projects and unit types are numbered.
struct NumberedUses {
    std::span<const std::int64_t> unit_counts; ///< by unit type
    std::span<const std::int64_t> units;       ///< held now, by project and in it by unit type
    std::span<const double> used_unit_s;       ///< decayed, the same
};
struct NumberedTake {
    std::size_t project{};
    std::size_t unit_type{};
    std::int64_t units{};
};

/// The same to the last bit as where names are in the order of the numbers. For who asks all the time: names take most
/// of the time.
std::vector<double> progressive_loads(const NumberedUses& uses, std::span<const NumberedTake> takes);

/// What is left of a use after `age`: 2^(−age / half_life).
double decay(std::chrono::seconds age, std::chrono::seconds half_life);

/// What a project may take; 0 in a limit: none.
struct Quota {
    std::int64_t max_units = 0; ///< held at once, over all unit types
    double max_score_hours = 0; ///< in a calendar month: unit-hours × score of the unit type / 1000
    double max_cost = 0;        ///< in a calendar month, in the network's currency

    bool is_limited() const { return max_units > 0 || max_score_hours > 0 || max_cost > 0; }
};
struct QuotaUse {
    std::int64_t units{};
    double score_hours{};
    double cost{};
};

/// What a run on so many units takes of a quota. @param score  of one unit.
QuotaUse quota_use(std::int64_t unit_count, double run_s, double score, double cost);
/// Why a job that takes so much more may not start now; empty when it may. For people.
std::string quota_obstacle(const Quota& quota, const QuotaUse& used, const QuotaUse& wanted);
/// True when the job alone is more than the quota: waiting would not help.
bool is_beyond_quota(const Quota& quota, const QuotaUse& wanted);

} // namespace fathom
