#include "agent/balance/sub_unit_actuator.hpp"

namespace fathom::agent {

Result<void> SubUnitActuator::look(UnitPosition& position)
{
    const Result<std::int64_t> held = source_.held(unit_);
    if (!held) return held.error();
    held_ = *held;
    position.sub_units = SubUnitPosition{.count = held_};
    return {};
}

Result<void> SubUnitActuator::act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units)
{
    return source_.ask({.unit = unit_,
                        .held = held_,
                        .change = actions.sub_units,
                        .wanted = wanted_sub_units.value_or(held_ + actions.sub_units)});
}

} // namespace fathom::agent
