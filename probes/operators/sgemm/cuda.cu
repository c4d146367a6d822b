#include "probes/operators/cublas_gemm.cuh"
#include "probes/operators/cuda_library.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_cuda_sgemm(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CublasGemm<float, float>>(gemm_shape(parameters));
}

double cuda_sgemm_host_memory(const Parameters& parameters)
{
    return cublas_gemm_host_memory<float, float>(parameters);
}

double cuda_sgemm_device_memory(const Parameters& parameters)
{
    return cublas_gemm_device_memory<float, float>(parameters);
}

} // namespace

CudaImplementation sgemm_on_cuda()
{
    return {.make = make_cuda_sgemm, .host_memory = cuda_sgemm_host_memory, .device_memory = cuda_sgemm_device_memory};
}

} // namespace fathom::probes
