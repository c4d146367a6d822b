#pragma once

#include "core/model/probe_result.hpp"
#include "server/operators/operator_library.hpp"

#include <optional>
#include <string>

/// The metascheduler computes a sample of what centers claim to have computed (design: "Trust").
namespace fathom::server {

enum class VerificationOutcome { kRight, kWrong, kImpossible };
std::string_view to_string(VerificationOutcome outcome);

struct VerificationVerdict {
    VerificationOutcome outcome{VerificationOutcome::kImpossible};
    std::string detail; ///< for people; empty when right
};

/// What the metascheduler runs itself: the task as it was sent, one short sample of each operator. Left out are
/// operators that only move bytes over a network: nothing is computed there, and the data site is not here; and arrays
/// of more than 2 GiB of an operator that measures memory. Operators that feed others stay. Pure.
/// @error kInfeasible  nothing remains, or it has uploaded code, which never runs at the metascheduler.
Result<ProbeTask> verification_task(const ProbeTask& document, const OperatorLibrary& library);

/// Compares operator by operator (difference_of); what was left out is not compared. Pure.
VerificationVerdict compare_results(const ProbeResult& claimed, const ProbeResult& computed,
                                    const OperatorLibrary& library);

/// The operators of two results of one order that differ, for people; empty when all agree. Sizes that one of them
/// does not have are passed over. Pure.
std::string difference_within_order(const ProbeResult& one, const ProbeResult& other);

} // namespace fathom::server
