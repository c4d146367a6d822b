#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/fftw_transform.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_fft1d(const Parameters& parameters, int threads)
{
    return std::make_unique<FftwTransform>(static_cast<std::size_t>(parameters.at("n")), 1, threads);
}

double fft1d_memory(const Parameters& parameters)
{
    return fftw_memory(static_cast<double>(parameters.at("n")));
}

} // namespace

CpuImplementation fft1d_on_cpu()
{
    return {.make = make_fft1d, .memory = fft1d_memory, .has_program_threads = true};
}

} // namespace fathom::probes
