#include "core/decide/corun/kernel.hpp"

#include "core/base/portable_math.hpp"

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

bool is_valid(const ClockTimings& timings)
{
    return is_positive(timings.time_ratio) && timings.clock_ratio >= kMinClockRatio &&
           timings.clock_ratio <= kMaxClockRatio;
}

/// Unknown where it tells neither.
ClassFinding by_intensity(double intensity, double device_balance)
{
    ClassFinding finding{KernelClass::kUnknown, ClassSource::kMeasured,
                         fmt::format("{:.3g} operations per byte of device memory, the device balances at {:.3g}",
                                     intensity, device_balance)};
    if (intensity >= device_balance * kBalanceMargin) finding.kernel_class = KernelClass::kCompute;
    if (intensity <= device_balance / kBalanceMargin) finding.kernel_class = KernelClass::kMemory;
    if (finding.kernel_class == KernelClass::kUnknown) finding.basis += ": too close to tell";
    return finding;
}

/// Unknown where it tells neither.
ClassFinding by_timings(const ClockTimings& timings)
{
    ClassFinding finding{
        KernelClass::kUnknown, ClassSource::kTimed,
        fmt::format("{:.3g} times as long at {:.3g} of the clock", timings.time_ratio, timings.clock_ratio)};
    const double follows = -portable::log(timings.time_ratio) / portable::log(timings.clock_ratio);
    if (std::abs(follows - 1) <= kTimingMargin) finding.kernel_class = KernelClass::kCompute;
    if (std::abs(follows) <= kTimingMargin) finding.kernel_class = KernelClass::kMemory;
    if (finding.kernel_class != KernelClass::kUnknown) return finding;
    const bool is_between = follows > 0 && follows < 1;
    finding.basis += is_between ? ": too close to tell" : ": more than the clock was different";
    return finding;
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
    case ClassSource::kTimed:
        return "timed";
    }
    return "none";
}

Result<ClassFinding> classify_kernel(const IntensityEvidence& evidence)
{
    for (const std::optional<double>& value : {evidence.operations, evidence.memory_bytes, evidence.device_balance}) {
        if (value && !is_positive(*value))
            return Error{Errc::kInvalid, "operations, memory bytes and the device's balance must be above 0"};
    }
    if (evidence.timings && !is_valid(*evidence.timings))
        return Error{Errc::kInvalid, fmt::format("times must be above 0, the ratio of clocks between {:g} and {:g}",
                                                 kMinClockRatio, kMaxClockRatio)};
    const KernelClass stated = evidence.stated.value_or(KernelClass::kUnknown);
    const ClassFinding said = stated == KernelClass::kUnknown
                                  ? ClassFinding{}
                                  : ClassFinding{stated, ClassSource::kStated, "stated with the kernel"};
    const bool is_counted = evidence.operations && evidence.memory_bytes && evidence.device_balance;
    if (!is_counted && !evidence.timings) {
        ClassFinding unmeasured = said;
        if (stated == KernelClass::kUnknown) unmeasured.basis = "neither stated nor measured";
        return unmeasured;
    }
    const ClassFinding told =
        is_counted ? by_intensity(*evidence.operations / *evidence.memory_bytes, *evidence.device_balance)
                   : by_timings(*evidence.timings);
    if (told.kernel_class != KernelClass::kUnknown) return told;
    return stated == KernelClass::kUnknown ? told : said;
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
