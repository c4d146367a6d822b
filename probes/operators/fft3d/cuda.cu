#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cufft_transform.hpp"

#include <cmath>

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_cuda_fft3d(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CufftTransform>(static_cast<std::size_t>(parameters.at("n")), 3);
}

double cuda_fft3d_host_memory(const Parameters& parameters)
{
    return cufft_host_memory(std::pow(static_cast<double>(parameters.at("n")), 3));
}

double cuda_fft3d_device_memory(const Parameters& parameters)
{
    return cufft_device_memory(std::pow(static_cast<double>(parameters.at("n")), 3));
}

} // namespace

CudaImplementation fft3d_on_cuda()
{
    return {.make = make_cuda_fft3d, .host_memory = cuda_fft3d_host_memory, .device_memory = cuda_fft3d_device_memory};
}

} // namespace fathom::probes
