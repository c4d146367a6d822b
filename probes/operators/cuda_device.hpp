#pragma once

#include "probes/operators/cuda_library.hpp"

namespace fathom::probes {

/// CudaLibrary::device.
Result<CudaDevice> find_cuda_device();
/// CudaLibrary::bus_bytes_per_s.
Result<double> measure_cuda_bus();

} // namespace fathom::probes
