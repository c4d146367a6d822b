#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/fftw_transform.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_fft3d(const Parameters& parameters, int threads)
{
    return std::make_unique<FftwTransform>(static_cast<std::size_t>(parameters.at("n")), 3, threads);
}

double fft3d_memory(const Parameters& parameters)
{
    const auto n = static_cast<double>(parameters.at("n"));
    return fftw_memory(n * n * n);
}

} // namespace

CpuImplementation fft3d_on_cpu()
{
    return {.make = make_fft3d, .memory = fft3d_memory, .has_program_threads = true};
}

} // namespace fathom::probes
