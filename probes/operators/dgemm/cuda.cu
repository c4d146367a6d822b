#include "probes/operators/cublas_gemm.cuh"
#include "probes/operators/cuda_implementations.hpp"

namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_cuda_dgemm(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CublasGemm<double, double>>(gemm_shape(parameters));
}

double cuda_dgemm_host_memory(const Parameters& parameters)
{
    return cublas_gemm_host_memory<double, double>(parameters);
}

double cuda_dgemm_device_memory(const Parameters& parameters)
{
    return cublas_gemm_device_memory<double, double>(parameters);
}

} // namespace fathom::probes
