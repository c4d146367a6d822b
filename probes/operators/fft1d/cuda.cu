#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cufft_transform.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_cuda_fft1d(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CufftTransform>(static_cast<std::size_t>(parameters.at("n")), 1);
}

double cuda_fft1d_host_memory(const Parameters& parameters)
{
    return cufft_host_memory(static_cast<double>(parameters.at("n")));
}

double cuda_fft1d_device_memory(const Parameters& parameters)
{
    return cufft_device_memory(static_cast<double>(parameters.at("n")));
}

} // namespace

CudaImplementation fft1d_on_cuda()
{
    return {.make = make_cuda_fft1d, .host_memory = cuda_fft1d_host_memory, .device_memory = cuda_fft1d_device_memory};
}

} // namespace fathom::probes
