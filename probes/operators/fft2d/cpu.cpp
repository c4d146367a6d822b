#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/fftw_transform.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_fft2d(const Parameters& parameters, int threads)
{
    return std::make_unique<FftwTransform>(static_cast<std::size_t>(parameters.at("n")), 2, threads);
}

double fft2d_memory(const Parameters& parameters)
{
    const auto n = static_cast<double>(parameters.at("n"));
    return fftw_memory(n * n);
}

} // namespace

CpuImplementation fft2d_on_cpu()
{
    return {.make = make_fft2d, .memory = fft2d_memory, .has_program_threads = true};
}

} // namespace fathom::probes
