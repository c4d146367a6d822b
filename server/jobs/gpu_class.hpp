#pragma once

#include "core/model/kernel_class.hpp"
#include "core/model/probe_task.hpp"
#include "server/catalog/catalog_snapshot.hpp"

#include <span>

namespace fathom::server {

/// Operations that a GPU does while it moves a byte of its memory, in double precision: about 6 (K80) to 12 (A100)
/// without tensor cores. Operators of the library are far from it on either side (SpMV 0.2, FFT 3, DGEMM of 1024 85).
inline constexpr double kTypicalGpuBalance = 10;

/// What a job's work on a GPU is bound by as a whole (C1): the operations of all its operators that GPUs compute over
/// the bytes that these move, against kTypicalGpuBalance. Unknown where it has no such operator, or both are about
/// even. Pure.
/// @param operators  as in JobSpec::operators once a job was admitted: named, or what its type was seen to execute.
KernelClass gpu_class_of(std::span<const OperatorUse> operators, const CatalogSnapshot& catalog);

} // namespace fathom::server
