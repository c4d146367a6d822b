#pragma once

#include "probes/operators/cuda_library.hpp"

namespace fathom::probes {

/// CudaLibrary::device.
Result<CudaDevice> find_cuda_device();

} // namespace fathom::probes
