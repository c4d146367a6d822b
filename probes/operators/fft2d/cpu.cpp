#include "probes/operators/fftw_transform.hpp"
#include "probes/operators/implementations.hpp"

namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_fft2d(const Parameters& parameters, int threads)
{
    return std::make_unique<FftwTransform>(static_cast<std::size_t>(parameters.at("n")), 2, threads);
}

double fft2d_memory(const Parameters& parameters)
{
    const auto n = static_cast<double>(parameters.at("n"));
    return fftw_memory(n * n);
}

} // namespace fathom::probes
