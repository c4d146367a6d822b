#include "core/decide/balance/action_plan.hpp"

#include "core/decide/balance/action_table.hpp"
#include "core/decide/balance/occupancy.hpp"
#include "core/decide/balance/precision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace fathom {
namespace {

constexpr std::array<std::string_view, 3> kActuatorNames{"sub_units", "clock", "precision"};

/// Smaller changes of a clock are not worth a call to the driver.
constexpr std::int64_t kMinClockChangeMhz = 10;
/// Counts are computed from occupancies: so little below a whole number is that number.
constexpr double kRounding = 1e-6;
/// A step of precision halves or doubles the capacity; so far beyond balance it may lead.
constexpr double kPrecisionSlack = 1.1;
/// So many times its capacity a unit must need before a finer precision, or a sub-unit, is given back although that
/// leads beyond balance: of a precision, half of it is more than the need at which the precision was made finer, so
/// that both do not alternate.
constexpr double kComesBackFrom = 1.15;
/// From this occupancy on a link or a unit does all that it can, but for noise.
constexpr double kSaturated = 0.9;
/// The clock is given back below this occupancy: less than that to which it is lowered, so that noise does not do both
/// in turn.
constexpr double kGivenBackBelow = 0.85;
/// Balance of next to nothing would be a count beyond all that there is; brokers and readers of traces take no more.
constexpr double kMaxWanted = 1e6;

/// A change in the direction of `wanted`, no further than to `target`.
std::int64_t limited(std::int64_t wanted, std::int64_t present, double target)
{
    const double room = target - static_cast<double>(present);
    if (wanted > 0) return room <= 0 ? 0 : std::llround(std::min(static_cast<double>(wanted), room));
    return room >= 0 ? 0 : -std::llround(std::floor(std::min(static_cast<double>(-wanted), -room) + kRounding));
}

/// The remaining need for capacity, and what each actuator makes of it.
class CapacityPlan {
  public:
    CapacityPlan(const UnitPosition& position, const UnitPosition& before, std::optional<double> capacity)
        : position_(position), before_(before), needs_(capacity.value_or(0)), is_limited_(capacity.has_value())
    {
    }

    std::int64_t plan_sub_units(std::int64_t wanted)
    {
        if (!position_.sub_units) return 0;
        const SubUnitPosition& units = *position_.sub_units;
        // What was given up comes back at once, as far as balance needs: the table's steps are for what is new.
        if (wanted > 0 && is_limited_ && before_.sub_units)
            wanted = std::max(wanted, before_.sub_units->count - units.count);
        return plan_value(wanted, units.count, units.least, units.most, 1);
    }

    std::int64_t plan_clock(std::int64_t wanted)
    {
        if (!position_.clock) return 0;
        const ClockPosition& clock = *position_.clock;
        return plan_value(wanted, clock.mhz, clock.least_mhz, clock.most_mhz, kMinClockChangeMhz);
    }

    int plan_precision(int wanted)
    {
        if (!position_.precision) return 0;
        const auto& [present, range] = *position_.precision;
        const int direction = wanted > 0 ? 1 : -1;
        int steps = 0;
        Precision reached = present;
        while (steps != wanted) {
            const Precision next = step_precision(reached, direction, range);
            const double factor = static_cast<double>(bits_of(reached)) / bits_of(next);
            const bool is_beyond =
                is_limited_ && (direction < 0 ? factor > needs_ * kPrecisionSlack : factor * kPrecisionSlack < needs_);
            if (next == reached || (is_beyond && !comes_back(reached, direction))) break;
            steps += direction;
            reached = next;
            needs_ /= factor;
        }
        return steps;
    }

    /// One sub-unit where the unit has fewer than before and lacks more than others give it: less than half of one more
    /// is none by rounding.
    std::int64_t plan_returned_sub_unit() const
    {
        if (!is_limited_ || !position_.sub_units || !before_.sub_units) return 0;
        const SubUnitPosition& units = *position_.sub_units;
        const bool has_fewer = units.count < std::min(units.most, before_.sub_units->count);
        return has_fewer && needs_ > kComesBackFrom ? 1 : 0;
    }

  private:
    /// Whether a step leads back to the precision before, and the unit lacks more than others can give it.
    bool comes_back(Precision reached, int direction) const
    {
        return direction < 0 && before_.precision && reached > before_.precision->precision && needs_ > kComesBackFrom;
    }

    std::int64_t plan_value(std::int64_t wanted, std::int64_t present, std::int64_t least, std::int64_t most,
                            std::int64_t least_change)
    {
        if (present <= 0) return 0;
        const double target = is_limited_  ? static_cast<double>(present) * needs_
                              : wanted > 0 ? std::numeric_limits<double>::max()
                                           : std::numeric_limits<double>::lowest();
        const std::int64_t change =
            std::clamp(present + limited(wanted, present, target), std::min(least, present), std::max(most, present)) -
            present;
        if (std::abs(change) < least_change || present + change <= 0) return 0;
        needs_ *= static_cast<double>(present) / static_cast<double>(present + change);
        return change;
    }

    const UnitPosition& position_;
    const UnitPosition& before_;
    double needs_;
    bool is_limited_;
};

} // namespace

std::string_view to_string(ActuatorKind kind)
{
    return kActuatorNames.at(static_cast<std::size_t>(kind));
}

std::optional<ActuatorKind> parse_actuator_kind(std::string_view text)
{
    const auto* const found = std::find(kActuatorNames.begin(), kActuatorNames.end(), text);
    if (found == kActuatorNames.end()) return std::nullopt;
    return static_cast<ActuatorKind>(found - kActuatorNames.begin());
}

std::optional<double> wanted_capacity(const Occupancies& occupancies)
{
    if (occupancies.transfer <= 0) return std::nullopt;
    return occupancies.load / occupancies.transfer;
}

std::optional<std::int64_t> wanted_sub_units(std::int64_t count, const Occupancies& occupancies)
{
    const std::optional<double> capacity = wanted_capacity(occupancies);
    if (!capacity) return std::nullopt;
    const double wanted = std::min(static_cast<double>(count) * *capacity, kMaxWanted);
    const bool gives_up = wanted < static_cast<double>(count);
    return std::max<std::int64_t>(1, std::llround(gives_up ? std::ceil(wanted - kRounding) : wanted));
}

BalanceActions allowed_actions(BalanceActions wanted, const UnitPosition& position, const Occupancies& occupancies,
                               const PlanRules& rules)
{
    if (!rules.keeps_work || wanted.clock_mhz >= 0 || !position.clock) return wanted;
    const double busiest = std::max(occupancies.transfer, occupancies.load);
    const double spare = busiest > kSaturated ? 1 - kSaturated / busiest : 0;
    const auto most = static_cast<std::int64_t>(static_cast<double>(position.clock->mhz) * spare + kRounding);
    wanted.clock_mhz = std::max(wanted.clock_mhz, -most);
    return wanted;
}

std::int64_t clock_to_give_back(const UnitPosition& position, const UnitPosition& before,
                                const Occupancies& occupancies, const PlanRules& rules, double busiest_link,
                                double margin)
{
    const bool is_lower = position.clock && before.clock && position.clock->mhz < before.clock->mhz;
    if (!rules.keeps_work || !is_lower) return 0;
    const bool nothing_is_saturated = std::max(occupancies.transfer, occupancies.load) + margin < kGivenBackBelow;
    const double lowered_to = static_cast<double>(position.clock->mhz) / static_cast<double>(before.clock->mhz);
    const bool link_went_along = occupancies.transfer + margin < busiest_link * (1 + lowered_to) / 2;
    return nothing_is_saturated || link_went_along ? before.clock->mhz - position.clock->mhz : 0;
}

BalanceActions plan_actions(const BalanceActions& wanted, const UnitPosition& position, const PlanRules& rules,
                            std::optional<double> capacity, const UnitPosition& before)
{
    BalanceActions actions;
    CapacityPlan plan(position, before, rules.stops_at_balance ? capacity : std::nullopt);
    for (const ActuatorKind actuator : rules.actuators) {
        switch (actuator) {
        case ActuatorKind::kSubUnits:
            if (wanted.sub_units != 0) actions.sub_units = plan.plan_sub_units(wanted.sub_units);
            break;
        case ActuatorKind::kClock:
            if (wanted.clock_mhz != 0) actions.clock_mhz = plan.plan_clock(wanted.clock_mhz);
            break;
        case ActuatorKind::kPrecision:
            if (wanted.precision_steps != 0) actions.precision_steps = plan.plan_precision(wanted.precision_steps);
            break;
        }
        if (rules.use == ActuatorUse::kFirst && actions.any()) break;
    }
    const bool has_sub_units =
        std::find(rules.actuators.begin(), rules.actuators.end(), ActuatorKind::kSubUnits) != rules.actuators.end();
    const bool may_return = has_sub_units && (rules.use == ActuatorUse::kTogether || !actions.any());
    if (may_return && wanted.sub_units > 0 && actions.sub_units == 0) actions.sub_units = plan.plan_returned_sub_unit();
    return actions;
}

UnitPosition moved(UnitPosition position, const BalanceActions& actions)
{
    if (position.sub_units) position.sub_units->count += actions.sub_units;
    if (position.clock) position.clock->mhz += actions.clock_mhz;
    if (position.precision)
        position.precision->precision =
            step_precision(position.precision->precision, actions.precision_steps, position.precision->range);
    return position;
}

} // namespace fathom
