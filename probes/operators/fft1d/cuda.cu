#include "probes/operators/cuda_implementations.hpp"
#include "probes/operators/cufft_transform.hpp"

namespace fathom::probes {

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

} // namespace fathom::probes
