#pragma once

#include "agent/balance/actuator.hpp"
#include "agent/balance/gpu_driver.hpp"
#include "agent/balance/occupancy_sensor.hpp"
#include "agent/config/balance_table.hpp"

namespace fathom::agent {

/// Of a GPU: the mean of the driver's figures at each sample(). The load is the part of time in which a kernel ran,
/// which is at least what it did of its peak: the driver counts no operations.
class GpuSensor final : public OccupancySensor {
  public:
    GpuSensor(const BalancedUnit& unit, std::shared_ptr<GpuDriver> driver)
        : driver_(std::move(driver)), link_bytes_per_s_(unit.link_bytes_per_s)
    {
    }

    void sample() override;
    Result<Occupancies> measure() override;

  private:
    std::shared_ptr<GpuDriver> driver_;
    double link_bytes_per_s_; ///< 0: not asked yet
    double transfer_sum_ = 0;
    double load_sum_ = 0;
    std::int64_t samples_ = 0;
    std::optional<Error> failure_; ///< of a sample
};

/// The highest clock of a GPU: NVIDIA's locked clocks, from the least that it can to what is set here. Before, it is
/// locked to what the unit's settings say, as the driver does not tell; else the driver may take it to the most.
class GpuClock final : public Actuator {
  public:
    GpuClock(const BalancedUnit& unit, std::string library, std::shared_ptr<GpuDriver> driver)
        : uuid_(unit.device), clock_before_mhz_(unit.clock_mhz), library_(std::move(library)),
          driver_(std::move(driver))
    {
    }

    ActuatorKind kind() const override { return ActuatorKind::kClock; }
    Result<void> look(UnitPosition& position) override;
    Json undo() const override;
    void was_put_back() override { locked_mhz_.reset(); }
    Result<void> act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units) override;

  private:
    std::string uuid_;
    std::int64_t clock_before_mhz_; ///< 0: not locked
    std::string library_;
    std::shared_ptr<GpuDriver> driver_;
    std::optional<std::int64_t> locked_mhz_; ///< by the loop
    ClockPosition position_;
};

} // namespace fathom::agent
