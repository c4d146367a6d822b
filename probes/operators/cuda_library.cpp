#include "probes/operators/cuda_library.hpp"

#include "probes/operators/cuda_device.hpp"

namespace fathom::probes {
} // namespace fathom::probes

/// kCudaLibraryEntry
extern "C" [[gnu::visibility("default")]] const fathom::probes::CudaLibrary* fathom_cuda_library();

const fathom::probes::CudaLibrary* fathom_cuda_library()
{
    using namespace fathom::probes;
    static const CudaLibrary library{FATHOM_VERSION, cuda_implementations(), find_cuda_device, measure_cuda_bus};
    return &library;
}
