#pragma once

#include "core/model/probe_task.hpp"
#include "server/centers/unit_type_directory.hpp"
#include "server/operators/operator_library.hpp"

#include <vector>

namespace fathom::server {

/// What a full benchmark of a unit type measures: every built-in operator that it offers, newest version, at its
/// default size; operators that measure memory at a larger one where the unit's caches ask for it (size_beyond_caches).
/// Without uploaded operators, whose code is not ours, without those that only a look over days can measure (M20), and
/// without those of MPI, which are of several units: all are measured when somebody names them.
std::vector<OperatorUse> full_benchmark_operators(const OperatorLibrary& library, const UnitTypeOffer& offer);

/// How long a full benchmark of all operators may take. More than a task that stands for one job (M7): it looks at all.
/// Slow and busy machines need most of it.
inline constexpr double kFullBenchmarkLimit_s = 60;
/// What one is reckoned with when it is compared with other probes: most take less.
inline constexpr double kFullBenchmarkCost_s = 30;

/// The task of a full benchmark. Unit types that are benchmarked with the same operators have the same task.
ProbeTask full_benchmark_task(std::vector<OperatorUse> operators);

} // namespace fathom::server
