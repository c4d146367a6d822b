#pragma once

#include "core/decide/queue/deferred_start.hpp"
#include "core/decide/queue/order_index.hpp"
#include "core/schedule/center_queues.hpp"
#include "core/schedule/decided_ledger.hpp"
#include "core/schedule/decided_places.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/start_rounds.hpp"
#include "core/schedule/wanted_places.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Part of core/schedule/schedule.
namespace fathom {

/// One call of schedule().
class Scheduling : private StartRounds {
  public:
    Scheduling(UnitLedger& units, const ScheduleInput& input)
        : ledger_(units, input), input_(&input), jobs_(input.jobs),
          places_(units, input.loads->busy_shares, input.loads->shadow_prices), probe_hosts_(input.probe_hosts),
          views_(jobs_.size()), is_done_(jobs_.size(), false), is_refused_(jobs_.size(), false)
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
    /// The jobs that order_jobs() is called with.
    struct Asked {
        std::vector<std::size_t> jobs;
        std::vector<WaitingJobView> views;
    };

    /// Sets views_: the places of each job on the ledger as it is. Jobs that can start nowhere go to the waits.
    void view_all();
    /// Whether the job's decision must list all places, not only the winner, if the job waits.
    bool is_whole_wanted(std::size_t job) const;
    using OptionsByKind = std::unordered_map<std::string_view, JobOptions>;
    void give(const OptionsByKind& by_kind);
    void set_latest_starts();
    bool joins_center_queues(const OptionsByKind& by_kind) const;
    bool has_queue(const JobOptions& options) const;
    void load_projects();
    Round start_next() override;
    bool look_again() override { return view_again(); }
    bool drop_places() override;
    /// What starts have changed since the last call of news_of_starts().
    struct News {
        std::set<const UnitTypeView*> unit_types;
        std::set<std::string_view> projects;
    };
    News news_of_starts();
    bool concerns(const News& news, std::size_t job) const;
    /// Decides again on the jobs whose places starts have changed. @return false when there are none.
    bool view_again();
    /// What jobs of this one's kind can have now.
    JobOptions options_again(std::size_t job);
    std::vector<JobOption> with_run_times(std::vector<JobOption> options) const;
    /// @return true when some start could not be made, so that units may be left for other jobs.
    bool make_starts(const Asked& asked, const std::vector<OrderedStart>& starts);
    bool start_alone(std::size_t job, const JobOption& option);
    bool start_gang(const Asked& asked, const std::vector<OrderedStart>& members);
    bool start_at(std::size_t job, const JobOption& option);
    /// Removes the option, which proved impossible for the job, from what order_jobs() sees.
    void lose(std::size_t job, const JobOption& option);
    /// Examines the jobs that the order makes wait for better places.
    /// @return true when a wait did not pay, and its place was removed from the job's options.
    bool drop_vain_waits(const Asked& asked);
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

    Asked ask() const;
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
    ProbeHosts probe_hosts_;
    std::optional<CenterQueues> queues_;     ///< where one of the places has a queue
    std::vector<WaitingJobView> views_;      ///< of all jobs
    std::vector<bool> is_done_;              ///< decided: it starts, or it waits for something else than its turn
    std::vector<bool> is_refused_;           ///< the start could not be made; the job is planned
    std::map<std::size_t, JobOptions> left_; ///< by job: the options that are left where some proved impossible
    std::map<std::size_t, JobOptions> held_probes_;      ///< by job: the options of those that wait for their host
    std::map<std::size_t, std::size_t> deferred_starts_; ///< by job: the unit type that it waits for
    std::size_t viewed_starts_ = 0;                      ///< after which all jobs were looked at
    std::vector<OrderedPlace> ordered_;
    double typical_run_s_ = 0;
    std::size_t planned_ = 0;                  ///< jobs that wait for units, so far
    std::set<std::string_view> device_savers_; ///< kinds whose options leave out GPUs (OfferedPlaces)
    /// By kind: the first decisions, brief ones unless is_whole_wanted().
    std::unordered_map<std::string_view, std::shared_ptr<const Decision>> seen_;
};

} // namespace fathom
