#pragma once

#include "core/base/result.hpp"
#include "core/decide/corun/kernel.hpp"
#include "core/decide/corun/pair_model.hpp"
#include "core/decide/corun/preemption.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which kernel is launched next on a GPU, and whether another is pre-empted for it (C3–C7).
namespace fathom {

inline constexpr std::size_t kMaxConcurrent = 16;
inline constexpr std::size_t kMaxWaiting = 10'000;

struct CorunSettings {
    std::size_t limit{2};              ///< kernels that run at the same time, 1 … kMaxConcurrent
    double memory_decay{kMemoryDecay}; ///< of memory-intensive survivors, kMinMemoryDecay … kMaxMemoryDecay
    /// Also fewer kernels than the limit are an alternative: a launch that would lower the combined performance is held
    /// back, and kernels may be pre-empted below the limit, with none in their place, or all of them for one that
    /// waits. The specification's rules do none of these.
    bool may_run_fewer{false};
};

/// What runs on the GPU and what could. Order does not matter.
struct CorunState {
    std::vector<RunningKernel> running;
    std::vector<WaitingKernel> waiting;
    CorunSettings settings;
};

enum class CorunAction { kKeep, kLaunch, kPreempt };
/// "keep", "launch", "preempt"
std::string_view to_string(CorunAction action);

/// What one kernel is expected to keep beside another, in the combination that was chosen or looked at closest.
struct PairBasis {
    std::string kernel; ///< id
    std::string beside; ///< id
    PairShare expected;
};

struct CorunDecision {
    CorunAction action{CorunAction::kKeep};
    std::string launch;                       ///< id; empty: none. Where nothing changes: what came closest to it
    std::vector<std::string> victims;         ///< ids; more than one only with CorunSettings::may_run_fewer
    double combined_now{};                    ///< Σ weight · normalized IPC of what runs
    double combined_then{};                   ///< the same as expected after the change
    std::optional<PreemptionFigures> figures; ///< C6, where pre-empting was looked at
    std::vector<PairBasis> basis;
    std::string reason; ///< for people
};

/// One step: launch a kernel, pre-empt one (for another), or keep what runs. Called again after each change, it ends in
/// keep, since every step makes the combination better.
///
/// Combinations rank by their combined performance Σ weight · normalized IPC: what runs as it was reported, what would
/// run as `pairs` expects; with more than two kernels each keeps the product of what it keeps beside each other one.
/// Among equals comes what was pre-empted, then what arrived first, then the lower id.
/// At the limit each waiting kernel whose combination with the survivors ranks above what runs now is weighed by C6;
/// the largest gain is taken. With several survivors the largest L2 miss rate counts in C7; several victims are
/// pre-empted one after the other. Kernels that cannot run together (PairModel::exclude) are no combination.
/// @error kInvalid  with every field error, as `running[0].ipc`; an id is duplicated; more runs than the limit allows.
Result<CorunDecision> decide_corun(const CorunState& state, const PairModel& pairs);

} // namespace fathom
