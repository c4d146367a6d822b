#pragma once

#include "probes/operators/cuda_library.hpp"
#include "probes/operators/registry.hpp"

#include <filesystem>
#include <vector>

namespace fathom::probes {

/// The operators on CUDA devices, as this process can use them.
struct CudaOperators {
    CudaDevice device;
    std::vector<RegisteredOperator> operators; ///< sorted by id
    Result<double> (*bus_bytes_per_s)(){};     ///< CudaLibrary's
};

/// Loads kCudaLibraryFile and starts the device. The library stays loaded until the process ends.
/// @param folder  where it lies: the program's own.
/// @error kUnavailable  the library is missing, is of another version, or a library that it needs is missing; or there
///                      is no device that it can use. The detail has the cause and what would change it.
Result<CudaOperators> load_cuda_operators(const std::filesystem::path& folder);

} // namespace fathom::probes
