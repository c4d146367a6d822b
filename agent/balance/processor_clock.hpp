#pragma once

#include "agent/balance/actuator.hpp"
#include "agent/balance/host_files.hpp"
#include "agent/config/balance_table.hpp"

namespace fathom::agent {

/// The highest clock of a unit's processors: cpufreq's scaling_max_freq, between what the processors can do least and
/// most. Voltage follows the clock by itself.
class ProcessorClock final : public Actuator {
  public:
    ProcessorClock(const BalancedUnit& unit, const HostFiles& files);

    ActuatorKind kind() const override { return ActuatorKind::kClock; }
    Result<void> look(UnitPosition& position) override;
    Json undo() const override;
    Result<void> act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units) override;

  private:
    struct Policy {
        std::filesystem::path folder; ///< a processor's cpufreq
        std::int64_t limit_khz{};     ///< as it stands
    };

    std::vector<Policy> policies_;
    ClockPosition position_;
};

} // namespace fathom::agent
