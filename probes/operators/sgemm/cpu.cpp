#include "probes/operators/blas_gemm.hpp"
#include "probes/operators/cpu_implementation.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_sgemm(const Parameters& parameters, int threads)
{
    return std::make_unique<BlasGemm<float>>(parameters, threads);
}

double sgemm_memory(const Parameters& parameters)
{
    return blas_gemm_memory<float>(parameters);
}

} // namespace

CpuImplementation sgemm_on_cpu()
{
    return {.make = make_sgemm, .memory = sgemm_memory};
}

} // namespace fathom::probes
