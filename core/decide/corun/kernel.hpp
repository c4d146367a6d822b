#pragma once

#include "core/base/result.hpp"
#include "core/model/kernel_class.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Kernels of a GPU as decisions see them (C1, C2).
namespace fathom {

/// Where a kernel's class comes from.
enum class ClassSource {
    kNone,     ///< nobody said, nothing was measured
    kStated,   ///< who submitted the kernel said so
    kMeasured, ///< its measured intensity against the balance of the device
    kTimed     ///< how much slower it is at a lower clock
};
std::string_view to_string(ClassSource source);

/// A class, and why.
struct ClassFinding {
    KernelClass kernel_class{KernelClass::kUnknown};
    ClassSource source{ClassSource::kNone};
    std::string basis; ///< a sentence for people
};

/// How long a kernel takes alone at two clocks of what computes; device memory has the same one.
struct ClockTimings {
    double clock_ratio{}; ///< the lower over the higher: kMinClockRatio … kMaxClockRatio
    double time_ratio{};  ///< the time at the lower over that at the higher
};
inline constexpr double kMinClockRatio = 0.1;
inline constexpr double kMaxClockRatio = 0.9; ///< clocks that are closer tell little beside noise

/// What the class is told from. What is not known is left out.
struct IntensityEvidence {
    std::optional<KernelClass> stated{};
    std::optional<double> operations{};     ///< arithmetic operations of one run
    std::optional<double> memory_bytes{};   ///< that it moved to and from device memory
    std::optional<double> device_balance{}; ///< operations that the device does while it moves one byte
    std::optional<ClockTimings> timings{};  ///< where nothing counts operations and bytes
};

/// Within this factor of the balance a kernel is bound by neither more than by the other.
inline constexpr double kBalanceMargin = 1.25;

/// What computes slows down as the clock does, what waits for memory does not: of −ln(time) over ln(clock), 1 of the
/// one and 0 of the other, so much is kept from both.
inline constexpr double kTimingMargin = 0.25;

/// The class by measured intensity (operations per byte against the device's balance; roofline model: Williams et al.,
/// CACM 52 (2009)); where that is not known, by timings at two clocks; by what was stated where nothing was measured.
/// Where a measurement is too close to tell (within kBalanceMargin of the balance; timings that are further than
/// kTimingMargin from both) a statement decides, else the class is unknown.
/// @error kInvalid  a number is not finite or not above 0, or the ratio of clocks is out of its range.
Result<ClassFinding> classify_kernel(const IntensityEvidence& evidence);

/// Normalized IPC: how fast a kernel runs, against alone.
/// @error kInvalid  one of both is not finite or not in kMinIpc … kMaxIpc.
Result<double> normalized_ipc(double ipc, double ipc_alone);

inline constexpr double kMinIpc = 1e-9;
inline constexpr double kMaxIpc = 1e9;
inline constexpr double kMaxInstructions = 1e18;
inline constexpr double kMaxBytes = 1e9; ///< registers or shared memory of one thread block
inline constexpr double kMaxThreadBlocks = 1e9;
inline constexpr double kMaxWeight = 1e12;
inline constexpr double kMinWeight = 1e-12;

/// A kernel that runs, as the runtime reports it (C2).
struct RunningKernel {
    std::string id;   ///< of this run
    std::string kind; ///< what pairs are known by: the same kernel of the same application with inputs alike
    KernelClass kernel_class{KernelClass::kUnknown};
    double weight{1};           ///< what its progress counts for; 1: all count alike
    double instructions{};      ///< of the whole run, predicted
    double instructions_done{}; ///< so far; may be above what was predicted
    double ipc{};               ///< now, beside what else runs
    double ipc_alone{};
    double l2_miss_rate{};   ///< 0 … 1
    double register_bytes{}; ///< of a thread block
    double shared_bytes{};   ///< shared memory of a thread block
    double thread_blocks{};  ///< resident
    /// What pre-empting it takes, where that was measured, as for a whole job; else C7 estimates it.
    std::optional<double> preempt_cycles{};

    double normalized() const { return ipc / ipc_alone; }
};

/// A kernel that could be launched.
struct WaitingKernel {
    std::string id;
    std::string kind;
    KernelClass kernel_class{KernelClass::kUnknown};
    double weight{1};
    bool was_preempted{}; ///< it ran before: first among equals
    std::int64_t order{}; ///< of arrival: the lower came earlier
};

/// Every fault of a kernel; `path` is put before the fields' names.
std::vector<FieldError> check_kernel(const RunningKernel& kernel, const std::string& path);
std::vector<FieldError> check_kernel(const WaitingKernel& kernel, const std::string& path);

} // namespace fathom
