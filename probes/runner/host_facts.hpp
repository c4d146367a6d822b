#pragma once

#include "core/base/json_reader.hpp"
#include "probes/runner/energy.hpp"
#include "probes/runner/gpu_energy.hpp"

#include <optional>

namespace fathom::probes {

/// What the machine and the process looked like, for the `host` object of a result.
///
/// Make it before the first operator (load and steal time are compared with that moment), finish it
/// after the last. Reads the kernel's files; what they do not say is left out.
class HostFacts {
  public:
    HostFacts();

    /// Facts, with what happened since the constructor: `steal_s` (time that the hypervisor gave to
    /// others, all cores), context switches and processor time of this process, `load_before`; `energy` (EnergyMeter),
    /// `gpu.energy` (GpuEnergyMeter) and, as they are at the end, `cpu_hz` and `cpu_celsius` (read_sensors).
    Json finish() const;

  private:
    Json facts_;
    EnergyMeter energy_;
    std::optional<GpuEnergyMeter> gpu_energy_; ///< of a unit with a GPU
    double steal_before_s_;
};

} // namespace fathom::probes
