#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/operator.hpp"

#include <memory>

/// The operators on CPU cores, one file each: probes/operators/<name>/cpu.cpp. Parameters must be
/// complete and within the manifest's ranges; `threads` is at least 1. `…_memory` says how many bytes
/// the operator needs, with its check. `…_available` gives the reason when the operator can run nowhere
/// on this machine, or in this environment; operators without one run everywhere.
namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_conjugate_gradient(const Parameters& parameters, int threads);
double conjugate_gradient_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_conv2d(const Parameters& parameters, int threads);
double conv2d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_dgemm(const Parameters& parameters, int threads);
double dgemm_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_fft1d(const Parameters& parameters, int threads);
double fft1d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_fft2d(const Parameters& parameters, int threads);
double fft2d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_fft3d(const Parameters& parameters, int threads);
double fft3d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_file_read(const Parameters& parameters, int threads);
double file_read_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_file_write(const Parameters& parameters, int threads);
double file_write_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_gemm_mixed(const Parameters& parameters, int threads);
double gemm_mixed_memory(const Parameters& parameters);
Result<void> gemm_mixed_available();

std::unique_ptr<ProbeOperator> make_network_fetch(const Parameters& parameters, int threads);
double network_fetch_memory(const Parameters& parameters);
Result<void> network_fetch_available();

std::unique_ptr<ProbeOperator> make_random_access(const Parameters& parameters, int threads);
double random_access_memory(const Parameters& parameters);

/// `threads` processes.
std::unique_ptr<ProbeOperator> make_reduction(const Parameters& parameters, int threads);
double reduction_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_sgemm(const Parameters& parameters, int threads);
double sgemm_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_sort(const Parameters& parameters, int threads);
double sort_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_spmv(const Parameters& parameters, int threads);
double spmv_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_stream_triad(const Parameters& parameters, int threads);
double stream_triad_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_trigonometric(const Parameters& parameters, int threads);
double trigonometric_memory(const Parameters& parameters);

} // namespace fathom::probes
