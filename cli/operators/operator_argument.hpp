#pragma once

#include "core/model/probe_task.hpp"

#include <string_view>
#include <vector>

namespace fathom::cli {

/// Whether `=COUNT` must follow each operator.
enum class OperatorCount {
    kRequired, ///< of a job: how often it executes the operator
    kOptional, ///< of a probe: 1 unless given
};

/// Reads `id[:param=value[;param=value…]][=count]`, several joined by commas:
/// `dgemm:m=512;n=512;k=512=3000,fft3d=20`. Counts may be written as 3e6. Whether the operators and
/// parameters exist is for the server to say.
/// @error kInvalid  the detail names the operator and its bad part.
Result<std::vector<OperatorUse>> parse_operator_arguments(std::string_view text, OperatorCount count);

} // namespace fathom::cli
