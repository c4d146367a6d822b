#pragma once

#include "simulator/corun/corun_policy.hpp"
#include "simulator/corun/corun_world.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

/// A discrete-event simulation of one GPU on which a few jobs run at the same time.
namespace fathom::simulation {

/// What became of a job.
struct CorunOutcome {
    double start_s{-1}; ///< when it ran first; -1: never
    double end_s{-1};   ///< -1: it did not end
    double work_s{};    ///< done, in seconds alone on the GPU
    std::int64_t preemptions{};
};

struct CorunResult {
    std::vector<CorunOutcome> jobs; ///< as CorunWorkload::jobs
    double end_s{};                 ///< when the last job that does not repeat ended
    double busy_s{};                ///< with at least one job on the GPU
    double shared_s{};              ///< with more than one
    double preempting_s{};          ///< while jobs were taken off
    std::int64_t decisions{};
    std::int64_t preemptions{};
};

struct CorunProgress {
    double now_s{};
    std::size_t ended{};
    std::size_t waiting{};
};

struct CorunHooks {
    std::function<void(const CorunProgress&)> progress; ///< now and then; may be empty
    const std::atomic<bool>* stop = nullptr;            ///< set: the simulation ends where it is
};

/// Runs the jobs under a policy until all that do not repeat have ended. A job makes its normalized IPC beside what
/// else runs in seconds of work a second; of three and more, the product of what it keeps beside each other one. While
/// victims are taken off (CorunWorld::preempt_s for each) they do nothing, those that stay keep what they had times the
/// decay, and nothing else is decided. Same world, workload, policy and seed, same result.
/// @param seed  of the noise of what is measured.
/// @error kInvalid   the world or the workload is (check_corun).
/// @error kInternal  the policy asked for a step that cannot be: says which.
Result<CorunResult> simulate_corun(const CorunWorld& world, const CorunWorkload& workload, CorunPolicy& policy,
                                   std::uint64_t seed, const CorunHooks& hooks = {});

} // namespace fathom::simulation
