#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/operator.hpp"

#include <memory>

/// The operators on CUDA devices, one file each: probes/operators/<name>/cuda.cu. As implementations.hpp, but for
/// memory, which is told apart: bytes of the host and bytes of the device.
namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_cuda_conjugate_gradient(const Parameters& parameters, int threads);
double cuda_conjugate_gradient_host_memory(const Parameters& parameters);
double cuda_conjugate_gradient_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_conv2d(const Parameters& parameters, int threads);
double cuda_conv2d_host_memory(const Parameters& parameters);
double cuda_conv2d_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_dgemm(const Parameters& parameters, int threads);
double cuda_dgemm_host_memory(const Parameters& parameters);
double cuda_dgemm_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_fft1d(const Parameters& parameters, int threads);
double cuda_fft1d_host_memory(const Parameters& parameters);
double cuda_fft1d_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_fft2d(const Parameters& parameters, int threads);
double cuda_fft2d_host_memory(const Parameters& parameters);
double cuda_fft2d_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_fft3d(const Parameters& parameters, int threads);
double cuda_fft3d_host_memory(const Parameters& parameters);
double cuda_fft3d_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_gemm_mixed(const Parameters& parameters, int threads);
double cuda_gemm_mixed_host_memory(const Parameters& parameters);
double cuda_gemm_mixed_device_memory(const Parameters& parameters);
Result<void> cuda_gemm_mixed_available();

std::unique_ptr<ProbeOperator> make_cuda_random_access(const Parameters& parameters, int threads);
double cuda_random_access_host_memory(const Parameters& parameters);
double cuda_random_access_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_reduction(const Parameters& parameters, int threads);
double cuda_reduction_host_memory(const Parameters& parameters);
double cuda_reduction_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_sgemm(const Parameters& parameters, int threads);
double cuda_sgemm_host_memory(const Parameters& parameters);
double cuda_sgemm_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_sort(const Parameters& parameters, int threads);
double cuda_sort_host_memory(const Parameters& parameters);
double cuda_sort_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_spmv(const Parameters& parameters, int threads);
double cuda_spmv_host_memory(const Parameters& parameters);
double cuda_spmv_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_stream_triad(const Parameters& parameters, int threads);
double cuda_stream_triad_host_memory(const Parameters& parameters);
double cuda_stream_triad_device_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_cuda_trigonometric(const Parameters& parameters, int threads);
double cuda_trigonometric_host_memory(const Parameters& parameters);
double cuda_trigonometric_device_memory(const Parameters& parameters);

} // namespace fathom::probes
