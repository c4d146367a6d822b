#include "probes/operators/fftw_transform.hpp"
#include "probes/operators/implementations.hpp"

namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_fft1d(const Parameters& parameters, int threads)
{
    return std::make_unique<FftwTransform>(static_cast<std::size_t>(parameters.at("n")), 1, threads);
}

double fft1d_memory(const Parameters& parameters)
{
    return fftw_memory(static_cast<double>(parameters.at("n")));
}

} // namespace fathom::probes
