#pragma once

#include "core/model/probe_result.hpp"
#include "server/operators/operator_library.hpp"

#include <string>

namespace fathom::server {

/// Reads what a center's fathom-probe printed and sees whether it can be the result of this task: the same
/// operators, versions, sizes and counts, each once; the number of units that was ordered; figures that
/// follow from the samples and from the manifests' formulas. Pure.
/// @error kInvalid   with every field error.
/// @error kTooLarge  over 4 MiB.
Result<ProbeResult> read_probe_result(const std::string& text, const ProbeTask& task, std::int64_t unit_count,
                                      const OperatorLibrary& library);

} // namespace fathom::server
