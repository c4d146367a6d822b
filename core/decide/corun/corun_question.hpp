#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/corun/decide_corun.hpp"
#include "core/decide/corun/instruction_model.hpp"

#include <optional>
#include <string>
#include <vector>

/// A described state of a GPU with what was measured before, as JSON (docs/corun.md).
namespace fathom {

/// Instructions that were not given but predicted, of a kernel that runs.
struct PredictedKernel {
    std::string id;
    InstructionPrediction instructions;
};

/// How a kernel came to its class.
struct ClassedKernel {
    std::string id;
    ClassFinding finding;
};

struct CorunQuestion {
    CorunState state;
    PairModel pairs; ///< fitted
    std::vector<PredictedKernel> predicted;
    std::optional<InstructionErrors> prediction_errors;
    std::vector<ClassedKernel> classes; ///< of all kernels, those that run first
};

inline constexpr std::size_t kMaxPairs = 100'000;
inline constexpr std::size_t kMaxRuns = 100'000;

/// Reads it strictly, every error at once: also what only decide_corun() would refuse. Measured pairs and runs are
/// learned in the order of their names, so that the order in the document does not matter.
/// @error kInvalid
Result<CorunQuestion> parse_corun_question(const Json& json);

} // namespace fathom
