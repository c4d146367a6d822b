#include "probes/operators/cublas_gemm.cuh"
#include "probes/operators/cuda_library.hpp"

namespace fathom::probes {

namespace {

std::unique_ptr<ProbeOperator> make_cuda_gemm_mixed(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CublasGemm<Bf16, float>>(gemm_shape(parameters));
}

double cuda_gemm_mixed_host_memory(const Parameters& parameters)
{
    return cublas_gemm_host_memory<Bf16, float>(parameters);
}

double cuda_gemm_mixed_device_memory(const Parameters& parameters)
{
    return cublas_gemm_device_memory<Bf16, float>(parameters);
}

Result<void> cuda_gemm_mixed_available()
{
    constexpr int kFirstWithBf16 = 8;
    int device = 0;
    int major = 0;
    try {
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    } catch (const CudaError& e) {
        return Error{Errc::kUnavailable, e.what()};
    }
    if (major >= kFirstWithBf16) return {};
    return Error{Errc::kUnavailable, cuda_device_name() + " has no arithmetic with bf16: that begins with compute "
                                                          "capability 8.0"};
}

} // namespace

CudaImplementation gemm_mixed_on_cuda()
{
    return {.make = make_cuda_gemm_mixed,
            .host_memory = cuda_gemm_mixed_host_memory,
            .device_memory = cuda_gemm_mixed_device_memory,
            .available = cuda_gemm_mixed_available};
}

} // namespace fathom::probes
