#include "probes/operators/blas_gemm.hpp"
#include "probes/operators/cpu_implementation.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_dgemm(const Parameters& parameters, int threads)
{
    return std::make_unique<BlasGemm<double>>(parameters, threads);
}

double dgemm_memory(const Parameters& parameters)
{
    return blas_gemm_memory<double>(parameters);
}

} // namespace

CpuImplementation dgemm_on_cpu()
{
    return {.make = make_dgemm, .memory = dgemm_memory};
}

} // namespace fathom::probes
