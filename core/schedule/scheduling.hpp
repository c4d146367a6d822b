#pragma once

#include "core/decide/queue/deferred_start.hpp"
#include "core/decide/queue/order_index.hpp"
#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/decided_places.hpp"
#include "core/schedule/first_look.hpp"
#include "core/schedule/project_loads.hpp"
#include "core/schedule/second_look.hpp"
#include "core/schedule/start_rounds.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

/// Part of core/schedule/schedule.
namespace fathom {

/// One call of schedule().
class Scheduling : private StartRounds {
  public:
    Scheduling(UnitLedger& units, const ScheduleInput& input)
        : ledger_(units, input), input_(&input), jobs_(input.jobs),
          places_(units, input.loads->busy_shares, input.loads->shadow_prices), probe_hosts_(input.probe_hosts)
    {
        plan_.queue_room = input.queue_room;
    }

    SchedulePlan run();

  private:
    /// A start that the order of the jobs has made.
    struct OrderedPlace {
        std::size_t start{}; ///< index into the plan's
        bool is_own_choice{};
    };

    Round start_next() override;
    bool look_again() override;
    bool drop_places() override;
    /// @return true when some start could not be made, so that units may be left for other jobs.
    bool make_starts(const OrderCall& asked, const std::vector<OrderedStart>& starts);
    bool start_alone(std::size_t job, const JobOption& option);
    bool start_gang(const OrderCall& asked, const std::vector<OrderedStart>& members);
    bool start_at(std::size_t job, const JobOption& option);
    /// Examines the jobs that the order makes wait for better places.
    /// @return true when a wait did not pay, and its place was removed from the job's options.
    bool drop_vain_waits(const OrderCall& asked);
    void plan_rest();
    /// Starts the job if that delays no other; else plans the job at the place that it would choose by itself.
    void plan(std::size_t job);
    /// Plans the job at the place that it waits for. @return false when what is left has no such place.
    bool plan_better(std::size_t job, std::size_t unit_type);
    void wait_for_winner(ScheduledWait wait);
    /// Whether the job is a probe that may not start now, since its host has another one.
    bool waits_for_host(std::size_t job) const;
    /// Puts the probes whose hosts have another one to the waits, and what they want out of the order: they keep
    /// nothing from jobs.
    void hold_probes();
    /// If the job is a probe: the others of its host wait from here on.
    void note_probe_start(std::size_t job, const CenterId& center);
    /// Keeps for overdue jobs that share no device the units that they wait for: there may be enough free units and yet
    /// no whole device as long as other jobs start on them.
    void keep_for_overdue();
    /// Keeps as many units as the job needs as soon as units are free, on whichever devices: other jobs then leave
    /// whole devices free, since centers first fill devices that are in use in part.
    void keep_free_for(const Candidate& winner, Reservation& planned) const;
    void set_ranks();
    void tell_turns();

    /// The job's decision on the ledger as it is.
    std::shared_ptr<const Decision> decide(std::size_t job) { return ledger_.decide(jobs_[job]); }
    ScheduledStart& start(std::size_t job, const RouteRequest& request, Decision decision);
    /// Whether a job that cannot start now may wait for the winner's unit at its center.
    bool may_queue(std::size_t job, const Decision& decision) const;
    void queue(std::size_t job, Decision decision);

    DecidedLedger ledger_;
    const ScheduleInput* input_;
    std::span<const ReadyJob> jobs_;
    SchedulePlan plan_;
    WantedPlaces places_;
    CycleTools tools_{input_, &ledger_, &places_};
    ProbeHosts probe_hosts_;
    FirstLook look_{CycleJobs(0), {}, {}, {}};
    std::map<std::size_t, JobOptions> held_probes_;      ///< by job: the options of those that wait for their host
    std::map<std::size_t, std::size_t> deferred_starts_; ///< by job: the unit type that it waits for
    std::size_t viewed_starts_ = 0;                      ///< after which all jobs were looked at
    std::vector<OrderedPlace> ordered_;
    std::size_t planned_ = 0; ///< jobs that wait for units, so far
};

} // namespace fathom
