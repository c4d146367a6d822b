#include "probes/operators/cuda_operator.hpp"

#include <cuda_runtime_api.h>

namespace fathom::probes {

Result<void> CudaOperator::prepare(std::uint64_t seed)
{
    try {
        seed_ = seed;
        stream_.emplace();
        prepare_on_device(seed);
        stream_->wait();
    } catch (const DeviceMemoryError& e) {
        return Error{Errc::kTooLarge, e.what()};
    } catch (const CudaError& e) {
        return Error{Errc::kUnavailable, e.what()};
    }
    return {};
}

std::string cuda_device_name()
{
    int device = 0;
    cudaDeviceProp properties{};
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return "no GPU";
    return properties.name;
}

std::string cuda_version_text(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string cuda_runtime_name()
{
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return "CUDA " + cuda_version_text(version) + " on " + cuda_device_name();
}

} // namespace fathom::probes
