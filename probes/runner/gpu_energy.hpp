#pragma once

#include "core/base/json_reader.hpp"

#include <memory>
#include <string>

namespace fathom::probes {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// Counts the energy of a whole GPU from its making on, by NVIDIA's management library (from Volta on). All of it is
/// the GPU's, whoever else computes there.
class GpuEnergyMeter {
  public:
    /// @param device  as CUDA_VISIBLE_DEVICES names it; of several the first one
    explicit GpuEnergyMeter(const std::string& device, const char* library = kNvmlLibrary);
    ~GpuEnergyMeter();
    GpuEnergyMeter(const GpuEnergyMeter&) = delete;
    GpuEnergyMeter& operator=(const GpuEnergyMeter&) = delete;

    /// `{"joules"}` since its making, or `{"absent": why}`: never 0 for what is not known.
    Json read() const;

  private:
    struct Counter;
    std::unique_ptr<Counter> counter_;
};

} // namespace fathom::probes
