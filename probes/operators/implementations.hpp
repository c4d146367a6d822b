#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/operator.hpp"

#include <memory>

/// The operators on CPU cores, one file each: probes/operators/<name>/cpu.cpp. Parameters must be
/// complete and within the manifest's ranges; `threads` is at least 1. `…_memory` says how many bytes
/// the operator needs, with its check.
namespace fathom::probes {

std::unique_ptr<ProbeOperator> make_dgemm(const Parameters& parameters, int threads);
double dgemm_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_fft1d(const Parameters& parameters, int threads);
double fft1d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_fft3d(const Parameters& parameters, int threads);
double fft3d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_spmv(const Parameters& parameters, int threads);
double spmv_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_conv2d(const Parameters& parameters, int threads);
double conv2d_memory(const Parameters& parameters);

std::unique_ptr<ProbeOperator> make_stream_triad(const Parameters& parameters, int threads);
double stream_triad_memory(const Parameters& parameters);

} // namespace fathom::probes
