#include "core/decide/corun/kernel_times.hpp"

#include <cmath>

namespace fathom {
namespace {

constexpr double kNsOfSecond = 1e9;

} // namespace

std::string sized_application(const std::string& kind, std::optional<double> input_size)
{
    return input_size ? kind + " by input size" : kind;
}

double size_to_learn(std::optional<double> input_size)
{
    return input_size.value_or(1);
}

void KernelTimes::learn(const std::string& kind, std::optional<double> input_size, std::span<const KernelTime> kernels)
{
    const std::string application = sized_application(kind, input_size);
    for (const KernelTime& one : kernels) {
        const std::optional<ExpectedKernelTime> expected = expect(kind, input_size, one.kernel);
        if (!expected && kernels_.size() >= kMaxKernels) {
            model_ = InstructionModel();
            kernels_.clear();
        }
        const Result<void> learned = model_.learn({.application = application,
                                                   .kernel = one.kernel,
                                                   .input_size = size_to_learn(input_size),
                                                   .instructions = one.mean_s * kNsOfSecond});
        if (!learned) continue; // shorter than anything takes, say
        Forecasts& forecasts = kernels_[{application, one.kernel}];
        if (!expected) continue;
        ++forecasts.count;
        forecasts.off += std::abs(expected->likely_s / one.mean_s - 1);
    }
}

std::optional<ExpectedKernelTime> KernelTimes::expect(const std::string& kind, std::optional<double> input_size,
                                                      const std::string& kernel) const
{
    const std::string application = sized_application(kind, input_size);
    const auto known = kernels_.find({application, kernel});
    if (known == kernels_.end()) return std::nullopt;
    const Result<InstructionPrediction> one = model_.predict(application, kernel, size_to_learn(input_size));
    if (!one) return std::nullopt;
    ExpectedKernelTime expected{.likely_s = one->instructions / kNsOfSecond,
                                .low_s = one->low / kNsOfSecond,
                                .high_s = one->high / kNsOfSecond,
                                .runs = one->runs};
    const Forecasts& forecasts = known->second;
    if (forecasts.count > 0) expected.mean_error = forecasts.off / static_cast<double>(forecasts.count);
    return expected;
}

} // namespace fathom
