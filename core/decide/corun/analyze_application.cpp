#include "core/decide/corun/analyze_application.hpp"

#include <fmt/format.h>

namespace fathom {

Result<std::vector<KernelAnalysis>> analyze_application(const SubmittedApplication& application,
                                                        const InstructionModel& model)
{
    std::vector<FieldError> errors;
    std::vector<KernelAnalysis> analyses;
    for (std::size_t i = 0; i < application.kernels.size(); ++i) {
        const SubmittedKernel& kernel = application.kernels[i];
        const Result<ClassFinding> found = classify_kernel(kernel.intensity);
        if (!found) errors.push_back({fmt::format("kernels[{}]", i), found.error().detail});
        const Result<InstructionPrediction> predicted =
            model.predict(application.type, kernel.name, application.input_size);
        if (!predicted && predicted.error().code != Errc::kInvalid) return predicted.error();
        if (!predicted && i == 0) errors.push_back({"input_size", predicted.error().detail});
        if (found && predicted) analyses.push_back({kernel.name, *predicted, *found});
    }
    if (!errors.empty()) return Error{Errc::kInvalid, "the application cannot be analyzed", std::move(errors)};
    return analyses;
}

} // namespace fathom
