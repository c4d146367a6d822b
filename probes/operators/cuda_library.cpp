#include "probes/operators/cuda_library.hpp"

#include "probes/operators/cuda_device.hpp"
#include "probes/operators/cuda_implementations.hpp"

#include <array>

namespace fathom::probes {
namespace {

Result<void> available_everywhere()
{
    return {};
}

constexpr std::array kImplementations{
    CudaImplementation{"conjugate_gradient", make_cuda_conjugate_gradient, cuda_conjugate_gradient_host_memory,
                       cuda_conjugate_gradient_device_memory, available_everywhere},
    CudaImplementation{"conv2d", make_cuda_conv2d, cuda_conv2d_host_memory, cuda_conv2d_device_memory,
                       available_everywhere},
    CudaImplementation{"dgemm", make_cuda_dgemm, cuda_dgemm_host_memory, cuda_dgemm_device_memory,
                       available_everywhere},
    CudaImplementation{"fft1d", make_cuda_fft1d, cuda_fft1d_host_memory, cuda_fft1d_device_memory,
                       available_everywhere},
    CudaImplementation{"fft2d", make_cuda_fft2d, cuda_fft2d_host_memory, cuda_fft2d_device_memory,
                       available_everywhere},
    CudaImplementation{"fft3d", make_cuda_fft3d, cuda_fft3d_host_memory, cuda_fft3d_device_memory,
                       available_everywhere},
    CudaImplementation{"gemm_mixed", make_cuda_gemm_mixed, cuda_gemm_mixed_host_memory, cuda_gemm_mixed_device_memory,
                       cuda_gemm_mixed_available},
    CudaImplementation{"random_access", make_cuda_random_access, cuda_random_access_host_memory,
                       cuda_random_access_device_memory, available_everywhere},
    CudaImplementation{"reduction", make_cuda_reduction, cuda_reduction_host_memory, cuda_reduction_device_memory,
                       available_everywhere},
    CudaImplementation{"sgemm", make_cuda_sgemm, cuda_sgemm_host_memory, cuda_sgemm_device_memory,
                       available_everywhere},
    CudaImplementation{"sort", make_cuda_sort, cuda_sort_host_memory, cuda_sort_device_memory, available_everywhere},
    CudaImplementation{"spmv", make_cuda_spmv, cuda_spmv_host_memory, cuda_spmv_device_memory, available_everywhere},
    CudaImplementation{"stream_triad", make_cuda_stream_triad, cuda_stream_triad_host_memory,
                       cuda_stream_triad_device_memory, available_everywhere},
    CudaImplementation{"trigonometric", make_cuda_trigonometric, cuda_trigonometric_host_memory,
                       cuda_trigonometric_device_memory, available_everywhere},
};

constexpr CudaLibrary kLibrary{FATHOM_VERSION, kImplementations, find_cuda_device};

} // namespace
} // namespace fathom::probes

/// kCudaLibraryEntry
extern "C" [[gnu::visibility("default")]] const fathom::probes::CudaLibrary* fathom_cuda_library();

const fathom::probes::CudaLibrary* fathom_cuda_library()
{
    return &fathom::probes::kLibrary;
}
