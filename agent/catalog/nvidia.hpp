#pragma once

#include "agent/catalog/device.hpp"
#include "core/base/result.hpp"

#include <vector>

namespace fathom::agent {

/// NVIDIA's library, in the folders where the system looks for libraries.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// The GPUs of this host and the MIG parts of those that are cut; empty where there is no NVIDIA driver. A GPU that is
/// cut into MIG parts is not among them itself. Loads NVIDIA's management library (NVML) and lets it go again. Blocks:
/// where the driver is not in use already, for seconds.
/// @param library  for tests: a file to load instead.
/// @param missing  gets a sentence for each GPU that is there and does not answer.
/// @error kUnavailable  there is a driver, and it does not work; the detail says why.
Result<std::vector<HostDevice>> find_nvidia_gpus(const char* library, std::vector<std::string>& missing);

} // namespace fathom::agent
