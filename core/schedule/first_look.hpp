#pragma once

#include "core/schedule/center_queues.hpp"
#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/schedule.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What the jobs of a cycle could have before anything has started: the options that their order is made of. Part of
/// core/schedule/schedule.
namespace fathom {

/// What the first look showed of each kind of jobs. Refers to the kinds of the input's jobs.
struct KindViews {
    /// Brief ones, but of gangs and of the job that is to be explained.
    std::unordered_map<std::string_view, std::shared_ptr<const Decision>> decisions;
    std::set<std::string_view> device_savers; ///< kinds whose options leave out GPUs (OfferedPlaces)
};

/// What all jobs together say of the options of each.
struct OptionCompletion {
    double typical_run_s = 0;           ///< for run times that are not known
    std::optional<CenterQueues> queues; ///< where one of the places has a queue
};

struct FirstLook {
    CycleJobs jobs;
    KindViews kinds;
    OptionCompletion completion;
    std::vector<ScheduledWait> waits; ///< jobs that can start nowhere
};

/// The places of each job on the ledger as it is.
FirstLook look_at_jobs(const CycleTools& tools);

} // namespace fathom
