#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <vector>

/// What the host's sensors tell beside a run. All of it is the host's, whoever else computes on it.
namespace fathom::probes {

/// Counts the energy of the host's processor packages and their memory from its making on, by RAPL ("running average
/// power limit", Intel and AMD), where the kernel lets this user read it.
class EnergyMeter {
  public:
    /// @param system  "/sys", or a folder like it
    explicit EnergyMeter(std::string system);

    /// `{"joules", "of"}` since its making, or `{"absent": why}`: never 0 for what is not known. A counter that begins
    /// anew once meanwhile is counted right.
    Json read() const;

  private:
    struct Zone {
        std::string folder;
        std::string name; ///< "package-0", "dram"
        double before_uj{};
        double range_uj{}; ///< the counter's, after which it begins anew; 0: not known
    };

    std::vector<Zone> zones_;
    std::string why_absent_;
};

/// `{"cpu_hz": the mean of the processors, "cpu_celsius": the hottest sensor of the processors}`, each `{"absent":
/// why}` where the host does not tell.
/// @param cpus  the processors that may be used
Json read_sensors(const std::string& system, const std::vector<int>& cpus);

} // namespace fathom::probes
