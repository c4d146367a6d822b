#pragma once

#include "agent/balance/actuator.hpp"
#include "agent/balance/sub_unit_source.hpp"

namespace fathom::agent {

/// The sub-units of a unit. What is asked for takes effect when the broker grants it; a change that is put back is
/// asked for the other way round. The journal keeps its entry past that request, since an earlier one may still be
/// granted.
class SubUnitActuator final : public Actuator {
  public:
    /// The source must outlive the actuator.
    SubUnitActuator(std::string unit, SubUnitSource& source) : unit_(std::move(unit)), source_(source) {}

    ActuatorKind kind() const override { return ActuatorKind::kSubUnits; }
    Result<void> look(UnitPosition& position) override;
    Json undo() const override { return {{"kind", "sub_units"}, {"unit", unit_}, {"count", held_}}; }
    Result<void> act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units) override;

  private:
    std::string unit_;
    SubUnitSource& source_;
    std::int64_t held_ = 0;
};

} // namespace fathom::agent
