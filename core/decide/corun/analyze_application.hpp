#pragma once

#include "core/base/result.hpp"
#include "core/decide/corun/instruction_model.hpp"
#include "core/decide/corun/kernel.hpp"

#include <string>
#include <vector>

/// What is known of an application's kernels before they run (C1).
namespace fathom {

/// A kernel of an application.
struct SubmittedKernel {
    std::string name;
    IntensityEvidence intensity;
};

struct SubmittedApplication {
    std::string type;
    double input_size{};
    std::vector<SubmittedKernel> kernels;
};

struct KernelAnalysis {
    std::string name;
    InstructionPrediction instructions;
    ClassFinding kernel_class;
};

/// Each kernel's instructions by the model, and its class. In the order of the application's kernels.
/// @error kInvalid     with every field error.
/// @error kInfeasible  the model has learned nothing yet.
Result<std::vector<KernelAnalysis>> analyze_application(const SubmittedApplication& application,
                                                        const InstructionModel& model);

} // namespace fathom
