#pragma once

#include "agent/balance/host_files.hpp"
#include "agent/balance/occupancy_sensor.hpp"
#include "agent/config/balance_table.hpp"

#include <chrono>
#include <optional>

namespace fathom::agent {

/// Of a unit of processors. The load is the part of their time in which they computed: of /proc/stat, or of the unit's
/// control group (cpu.stat). What was moved is what the kernel's resource control counted between the last-level caches
/// and memory (resctrl, mbm_total_bytes of the whole host), else what the control group read and wrote (io.stat).
class ProcessorSensor final : public OccupancySensor {
  public:
    ProcessorSensor(const BalancedUnit& unit, HostFiles files, double most_sample_age_s)
        : unit_(unit), files_(std::move(files)), most_sample_age_s_(most_sample_age_s)
    {
    }

    Result<Occupancies> measure() override;

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    struct Counters {
        SteadyTime at;
        double busy_s{}; ///< of all processors together
        double bytes{};
    };

    Result<Counters> read() const;
    Result<double> read_busy_s() const;
    Result<double> read_bytes() const;

    BalancedUnit unit_;
    HostFiles files_;
    double most_sample_age_s_;
    std::optional<Counters> before_;
};

} // namespace fathom::agent
