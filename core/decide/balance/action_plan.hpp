#pragma once

#include "core/decide/balance/action_table.hpp"
#include "core/decide/balance/occupancy.hpp"
#include "core/decide/balance/precision.hpp"

#include <optional>
#include <string>
#include <vector>

/// From what an output asks for to what is done with the actuators that are there (spec 3, R6 and R8).
namespace fathom {

enum class ActuatorKind { kSubUnits, kClock, kPrecision };
std::string_view to_string(ActuatorKind kind);
std::optional<ActuatorKind> parse_actuator_kind(std::string_view text);

/// Where the actuators of a unit stand, and how far they go. Empty: there is no such actuator.
struct SubUnitPosition {
    std::int64_t count{};
    std::int64_t least = 1;
    std::int64_t most = 1'000'000'000; ///< of which the metascheduler may grant fewer
};
struct ClockPosition {
    std::int64_t mhz{};
    std::int64_t least_mhz{};
    std::int64_t most_mhz{};
};
struct PrecisionPosition {
    Precision precision{};
    PrecisionRange range;
};
struct UnitPosition {
    std::optional<SubUnitPosition> sub_units{};
    std::optional<ClockPosition> clock{};
    std::optional<PrecisionPosition> precision{};
};

enum class ActuatorUse {
    kTogether, ///< all that an output asks for, in the order of the actuators
    kFirst,    ///< the first of them that can do something
};

struct PlanRules {
    std::vector<ActuatorKind> actuators{ActuatorKind::kSubUnits, ActuatorKind::kClock, ActuatorKind::kPrecision};
    ActuatorUse use = ActuatorUse::kTogether;
    /// Actions stop where the unit's capacity (sub-units × clock ÷ bits of a number) is what balance needs.
    bool stops_at_balance = true;
    /// The clock is lowered only where link or unit is saturated, and no further than to where they would no more be so
    /// if the work slowed down with it; where the work does, it is given back.
    bool keeps_work = true;

    bool operator==(const PlanRules&) const = default;
};

/// How many times its present capacity a unit needs for balance, P_d / P_p: R8's wanted count is count × this. Empty
/// where nothing is transferred.
std::optional<double> wanted_capacity(const Occupancies& occupancies);

/// R8: the wanted count of sub-units, from 1 to 1 000 000; rounded, but up where some are given up: no part that
/// balance needs is. Empty where nothing is transferred.
std::optional<std::int64_t> wanted_sub_units(std::int64_t count, const Occupancies& occupancies);

/// What is wanted, without what the rules leave out at these occupancies: a clock is lowered by no more than keeps the
/// busier of link and unit saturated, should its occupancy fall with the clock.
BalanceActions allowed_actions(BalanceActions wanted, const UnitPosition& position, const Occupancies& occupancies,
                               const PlanRules& rules);

/// By how much a clock is lower than before the loop where the work is slower by as much; else 0. It is where link and
/// unit are both far from saturated, and where the link was busier before and has lost more than half of what the clock
/// has: a saturated link is no less busy at a lower clock.
/// @param busiest_link  the occupancy up to which the link has been seen.
/// @param margin        by which occupancies must be below what tells so; for their noise.
std::int64_t clock_to_give_back(const UnitPosition& position, const UnitPosition& before,
                                const Occupancies& occupancies, const PlanRules& rules, double busiest_link,
                                double margin);

/// What is done, of what is wanted. Actuators act in the order of the rules, each as far as it goes and as the unit's
/// balance needs after what those before it have done. Of sub-units no part that balance needs is given up.
/// @param capacity  of wanted_capacity(); empty: no limit.
/// @param before  where actuators stood before the loop: sub-units come back at once up to there; one of them, and a
///                finer precision, also if that leads beyond balance, where the unit lacks capacity.
BalanceActions plan_actions(const BalanceActions& wanted, const UnitPosition& position, const PlanRules& rules,
                            std::optional<double> capacity, const UnitPosition& before = {});

/// The position after some actions.
UnitPosition moved(UnitPosition position, const BalanceActions& actions);

} // namespace fathom
