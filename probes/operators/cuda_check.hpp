#pragma once

#include <cuda_runtime_api.h>
#include <new>
#include <stdexcept>
#include <string>

namespace fathom::probes {

/// A call of CUDA or of one of its libraries failed. Never leaves the operator: its prepare returns it as a
/// value, but execute, which returns nothing, lets it end the probe.
class CudaError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The device's memory ran out.
class DeviceMemoryError : public std::bad_alloc {
  public:
    const char* what() const noexcept override { return "out of memory on the GPU"; }
};

/// @param what  the call, for the message.
/// Throws DeviceMemoryError or CudaError unless the status is success.
inline void check(cudaError_t status, const char* what)
{
    if (status == cudaSuccess) return;
    cudaGetLastError(); // the runtime would report it again at the next call
    if (status == cudaErrorMemoryAllocation) throw DeviceMemoryError();
    throw CudaError(std::string(what) + ": " + cudaGetErrorString(status));
}

} // namespace fathom::probes
