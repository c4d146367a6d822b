#pragma once

#include <cuda_runtime_api.h>

namespace fathom::probes {

/// Whether the device in use can run the kernels of this library: they are compiled for some architectures, and what
/// is older has none. cudaErrorNoKernelImageForDevice or the like if not.
cudaError_t find_kernels_for_device();

} // namespace fathom::probes
