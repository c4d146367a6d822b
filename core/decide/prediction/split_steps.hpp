#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Whether work whose parts suit different devices runs whole on one of them or in steps on both (S6, S7).
namespace fathom {

/// A part of the work that runs on one kind of device.
struct DeviceStep {
    double cpu_s{}; ///< S3; infinite where it cannot run on a CPU, but not on both
    double gpu_s{}; ///< S5; infinite where it cannot run on a GPU
    /// What it takes to hand its result to the step that reads it, where that one runs on the other kind.
    double passing_s{};
    std::optional<std::size_t> reader; ///< index of that step, smaller than its own; empty: the result is the work's
};

/// Where a step runs, and what it adds.
struct PlacedStep {
    bool runs_on_gpu{};
    double passing_s{}; ///< 0 where its reader is on the same kind
};

struct SplitAnswer {
    double cpu_s{};                ///< the whole on CPUs
    double gpu_s{};                ///< the whole on GPUs
    bool whole_runs_on_gpu{};      ///< what S6 says of the whole
    bool runs_as_steps{};          ///< false: it runs whole, and each step is where the whole is
    double total_s{};              ///< as decided, one step after the other, with passing_s
    double passing_s{};            ///< between devices
    std::vector<PlacedStep> steps; ///< in the order of the question
};

/// S6 for steps: of all ways to put each step on CPUs or GPUs the one of the least
/// Σ seconds on CPUs + threshold · Σ seconds on GPUs + Σ passing_s. So without passing a step is on a GPU where its own
/// N = cpu_s / gpu_s is above the threshold and on a CPU where it is below; a single step is placed as S6 says. Steps
/// run one after the other. Of what is equal the whole is taken, and of the whole the CPU. Where S6 has the whole on
/// CPUs, the steps take less time than that; where on GPUs, at most threshold times as long.
/// @param threshold  of S6, at least 1.
/// Cost: two passes over the steps.
SplitAnswer split_steps(std::span<const DeviceStep> steps, double threshold);

} // namespace fathom
