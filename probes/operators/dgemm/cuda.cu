#include "probes/operators/cublas_gemm.cuh"
#include "probes/operators/cuda_library.hpp"

namespace fathom::probes {

namespace {

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

} // namespace

CudaImplementation dgemm_on_cuda()
{
    return {.make = make_cuda_dgemm, .host_memory = cuda_dgemm_host_memory, .device_memory = cuda_dgemm_device_memory};
}

} // namespace fathom::probes
