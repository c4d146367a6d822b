#pragma once

#include "core/decide/corun/pair_model.hpp"
#include "core/model/gpu_pair.hpp"
#include "core/model/gpu_share.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Pairs of jobs from runs on shared GPUs: what each kept of its speed beside the other (C3, C6, C8).
namespace fathom {

/// A run that ended well, alone on its GPUs or beside jobs of one kind.
struct SharedRun {
    std::string kind{};
    KernelClass kernel_class{KernelClass::kUnknown};
    std::string beside{}; ///< kind of those that it shared its GPUs with; empty: nobody
    KernelClass beside_class{KernelClass::kUnknown};
    std::string
        place{};    ///< runs of a kind are compared where this is the same: unit type, count, kind of raw prediction
    double pace{1}; ///< run time over its raw prediction, or in seconds where there was none; above 0
    double together_share{}; ///< of the run time, with one of the others there: 0 to 1
};

/// Beside others for less than this part of its time a run says too little of them.
inline constexpr double kMinTogetherShare = 0.5;
/// Of a kind beside another the newest so many runs count, of a kind alone at one place as well.
inline constexpr std::size_t kMaxRunsOfPair = 16;
/// What is learned is held within these: a run tells no more than that it nearly stood, or that nothing hurt it.
inline constexpr double kMinLearnedShare = kMinLearnedGpuShare;
inline constexpr double kMaxLearnedShare = 1.5;

/// A time in which another job was on a GPU of the run, seconds after its start.
struct TogetherSpan {
    double from_s{};
    double until_s{};
};

/// In which part of the run somebody else was there. Empty: two others were there at the same time for more than a
/// twentieth of it, which tells of no pair.
/// @param run_s  above 0; what of spans lies outside of it does not count.
std::optional<double> share_together(std::vector<TogetherSpan> spans, double run_s);

/// Pairs of which both were run beside the other, and alone at the same place, those with the newest runs first. A run
/// that took so much more than the median of those alone lost that while it was not alone; a pair has the medians of
/// its newest runs.
/// @param runs  newest first.
std::vector<GpuPair> learn_pairs(std::span<const SharedRun> runs);

/// At most so many: those with the kind first, then others, from which what never ran is inferred; each in their order.
std::vector<GpuPair> pairs_for(const std::string& kind, std::span<const GpuPair> pairs, std::size_t most);

/// What these pairs tell, and what follows for others. Pairs that no model takes (PairModel::add) are left out.
PairModel pair_model_of(std::span<const GpuPair> pairs);

} // namespace fathom
