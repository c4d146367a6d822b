#pragma once

#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/first_look.hpp"
#include "core/schedule/probe_hosts.hpp"
#include "core/schedule/schedule.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace fathom {

/// The probes of a cycle that wait for another probe at their host. Not thread-safe; part of core/schedule/schedule.
class HeldProbes {
  public:
    /// The arguments must outlive the object.
    HeldProbes(const ScheduleInput& input, const KindViews& kinds)
        : input_(&input), kinds_(&kinds), hosts_(input.probe_hosts)
    {
    }

    /// Puts the probes whose hosts have another one to the waits, and what they want out of the order: they keep
    /// nothing from jobs.
    void hold(CycleJobs& jobs, std::vector<ScheduledWait>& waits);
    /// If the job, which has started at the center, is a probe: the others of its host wait from here on.
    void note_start(std::size_t job, const CenterId& center, CycleJobs& jobs, std::vector<ScheduledWait>& waits);
    /// Gives the probes the options back that they had before they were held.
    void give_back(std::vector<WaitingJobView>& views) const;

  private:
    /// Whether the job is a probe that may not start now, since its host has another one.
    bool waits_for_host(std::size_t job, const WaitingJobView& view) const;

    const ScheduleInput* input_;
    const KindViews* kinds_;
    ProbeHosts hosts_;
    std::map<std::size_t, JobOptions> options_; ///< of those that are held, by job
};

} // namespace fathom
