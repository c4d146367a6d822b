#pragma once

#include "core/model/probe_result.hpp"
#include "server/operators/operator_library.hpp"
#include "server/probing/findings/finding.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// Something in a result that a right one cannot have.
struct ResultFault {
    FindingKind kind{FindingKind::kNonsense};
    FieldError error;
};

/// Reads what a center's fathom-probe printed. Pure.
/// @error kInvalid   with every field error: garbage, NaN, negative or absurd numbers.
/// @error kTooLarge  over 4 MiB.
Result<ProbeResult> read_probe_result(const std::string& text);

/// Sees whether it can be the result of this task: the same seed, operators, versions, drawn sizes and counts, each
/// once; the number of units that was ordered; figures that follow from the samples and from the manifests' formulas;
/// samples that fit into the run. Pure. What is wrong, all of it; empty for a right result.
/// @param unit_count  that was reserved.
std::vector<ResultFault> check_probe_result(const ProbeResult& result, const ProbeTask& task, std::int64_t unit_count,
                                            const OperatorLibrary& library);

/// The same of a probe of so many copies side by side: of each of them, on one unit, with what the first took alone.
std::vector<ResultFault> check_copies(const ProbeResult& result, const ProbeTask& task, std::int64_t copies,
                                      const OperatorLibrary& library);

/// Sets the `cache_verdict` of each operator whose arrays were too small beside the caches that the result tells: it is
/// right, is kept, and predicts jobs of that size, but is no measure of memory. Sets the `memory_level` of those that
/// measure latency.
void judge_caches(ProbeResult& result, const OperatorLibrary& library);

/// The faults as one finding: its kind is the gravest of theirs. At least one.
Finding to_finding(const std::vector<ResultFault>& faults);

} // namespace fathom::server
