#pragma once

#include "core/base/result.hpp"
#include "core/decide/corun/kernel.hpp"

/// What pre-empting costs and gains, by the formulas of the specification (C6, C7).
namespace fathom {

/// The least and most that a memory-intensive kernel keeps of its speed while another is pre-empted, and the default.
inline constexpr double kMinMemoryDecay = 0.83;
inline constexpr double kMaxMemoryDecay = 0.97;
inline constexpr double kMemoryDecay = 0.90;

/// C7: (0.09526 · miss_rate + 0.01633) · (reg + smem) · tb, in cycles.
/// @param survivor_miss_rate  L2 miss rate of the kernel that stays, 0 … 1; 0 where none stays.
double preempt_cycles(double survivor_miss_rate, double register_bytes, double shared_bytes, double thread_blocks);

/// C7: what a survivor keeps of its speed meanwhile: 1 when compute-intensive, else `memory_decay`.
double preempt_decay(KernelClass survivor, double memory_decay);

/// C6: the cycles until the kernel ends at its present speed. One that has done more than was predicted may end at any
/// moment: 0.
double rest_cycles(const RunningKernel& kernel);

/// C6 with both sides, in cycles of normalized IPC: n₁ + n₂ are summed with the kernels' weights.
struct PreemptionFigures {
    double before{};         ///< (n₁ + n₂) · rest_cycles
    double after{};          ///< n₁ · decay · preempt_cycles + (n₁′ + n₃′) · (rest_cycles − preempt_cycles)
    double preempt_cycles{}; ///< C7, or as measured
    double rest_cycles{};    ///< until the first of those that run ends

    /// after > before; never when pre-empting takes as long as waiting.
    bool pays() const { return preempt_cycles < rest_cycles && after > before; }
};

/// What C6 takes.
struct PreemptionTerms {
    double combined_now{};      ///< n₁ + n₂
    double survivors_decayed{}; ///< n₁ · decay, over all that stay
    double combined_then{};     ///< n₁′ + n₃′
    double preempt_cycles{};
    double rest_cycles{};
};
PreemptionFigures weigh_preemption(const PreemptionTerms& terms);

} // namespace fathom
