#include "core/decide/corun/kernel.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fathom {
namespace {

constexpr std::size_t kMaxNameBytes = 256;

/// Adds an error when the value is not in low … high; not-a-number never is.
class KernelCheck {
  public:
    explicit KernelCheck(std::string path) : path_(std::move(path)) {}

    void number(const char* field, double value, double low, double high)
    {
        if (value >= low && value <= high) return;
        errors_.push_back({path_ + field, fmt::format("must be between {:g} and {:g}", low, high)});
    }
    void name(const char* field, const std::string& text)
    {
        if (!text.empty() && text.size() <= kMaxNameBytes) return;
        errors_.push_back({path_ + field, fmt::format("must have 1 to {} bytes", kMaxNameBytes)});
    }
    std::vector<FieldError> take() { return std::move(errors_); }

  private:
    std::string path_;
    std::vector<FieldError> errors_;
};

bool is_positive(double value)
{
    return std::isfinite(value) && value > 0;
}

} // namespace

std::string_view to_string(ClassSource source)
{
    switch (source) {
    case ClassSource::kNone:
        return "none";
    case ClassSource::kStated:
        return "stated";
    case ClassSource::kMeasured:
        return "measured";
    }
    return "none";
}

Result<ClassFinding> classify_kernel(const IntensityEvidence& evidence)
{
    for (const std::optional<double>& value : {evidence.operations, evidence.memory_bytes, evidence.device_balance}) {
        if (value && !is_positive(*value))
            return Error{Errc::kInvalid, "operations, memory bytes and the device's balance must be above 0"};
    }
    const KernelClass stated = evidence.stated.value_or(KernelClass::kUnknown);
    const ClassFinding said = stated == KernelClass::kUnknown
                                  ? ClassFinding{}
                                  : ClassFinding{stated, ClassSource::kStated, "stated with the kernel"};
    if (!evidence.operations || !evidence.memory_bytes || !evidence.device_balance) {
        ClassFinding unmeasured = said;
        if (stated == KernelClass::kUnknown) unmeasured.basis = "neither stated nor measured";
        return unmeasured;
    }
    const double intensity = *evidence.operations / *evidence.memory_bytes;
    const std::string measured =
        fmt::format("{:.3g} operations per byte of device memory, the device balances at {:.3g}", intensity,
                    *evidence.device_balance);
    if (intensity >= *evidence.device_balance * kBalanceMargin)
        return ClassFinding{KernelClass::kCompute, ClassSource::kMeasured, measured};
    if (intensity <= *evidence.device_balance / kBalanceMargin)
        return ClassFinding{KernelClass::kMemory, ClassSource::kMeasured, measured};
    if (stated == KernelClass::kUnknown)
        return ClassFinding{KernelClass::kUnknown, ClassSource::kMeasured, measured + ": too close to tell"};
    return said;
}

Result<double> normalized_ipc(double ipc, double ipc_alone)
{
    for (const double value : {ipc, ipc_alone}) {
        if (!(value >= kMinIpc && value <= kMaxIpc))
            return Error{Errc::kInvalid,
                         fmt::format("instructions per cycle must be between {:g} and {:g}", kMinIpc, kMaxIpc)};
    }
    return ipc / ipc_alone;
}

std::vector<FieldError> check_kernel(const RunningKernel& kernel, const std::string& path)
{
    KernelCheck check(path);
    check.name("id", kernel.id);
    check.name("kind", kernel.kind);
    check.number("weight", kernel.weight, kMinWeight, kMaxWeight);
    check.number("instructions", kernel.instructions, 1e-9, kMaxInstructions);
    check.number("instructions_done", kernel.instructions_done, 0, kMaxInstructions);
    check.number("ipc", kernel.ipc, kMinIpc, kMaxIpc);
    check.number("ipc_alone", kernel.ipc_alone, kMinIpc, kMaxIpc);
    check.number("l2_miss_rate", kernel.l2_miss_rate, 0, 1);
    check.number("register_bytes", kernel.register_bytes, 0, kMaxBytes);
    check.number("shared_bytes", kernel.shared_bytes, 0, kMaxBytes);
    check.number("thread_blocks", kernel.thread_blocks, 0, kMaxThreadBlocks);
    if (kernel.preempt_cycles) check.number("preempt_cycles", *kernel.preempt_cycles, 0, kMaxInstructions);
    return check.take();
}

std::vector<FieldError> check_kernel(const WaitingKernel& kernel, const std::string& path)
{
    KernelCheck check(path);
    check.name("id", kernel.id);
    check.name("kind", kernel.kind);
    check.number("weight", kernel.weight, kMinWeight, kMaxWeight);
    return check.take();
}

} // namespace fathom
