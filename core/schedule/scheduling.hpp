#pragma once

#include "core/decide/queue/deferred_start.hpp"
#include "core/decide/queue/order_index.hpp"
#include "core/schedule/center_queues.hpp"
#include "core/schedule/decided_ledger.hpp"
#include "core/schedule/decided_places.hpp"
#include "core/schedule/schedule.hpp"
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
class Scheduling {
  public:
    Scheduling(UnitLedger& units, const ScheduleInput& input)
        : ledger_(units, input), input_(&input), jobs_(input.jobs),
          places_(units, input.busy_shares, input.shadow_prices), views_(jobs_.size()), is_done_(jobs_.size(), false),
          is_refused_(jobs_.size(), false)
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
    /// The jobs that the order is asked about.
    struct Asked {
        std::vector<std::size_t> jobs;
        std::vector<WaitingJobView> views;
    };

    /// The places of each job on the ledger as it is, into views_; what cannot start anywhere goes to the waits.
    void view_all();
    /// Where it waits, its decision must have all places, not only the winner.
    bool is_whole_wanted(std::size_t job) const;
    using OptionsByKind = std::unordered_map<std::string_view, JobOptions>;
    void give(const OptionsByKind& by_kind);
    bool joins_center_queues(const OptionsByKind& by_kind) const;
    bool has_queue(const JobOptions& options) const;
    void load_projects();
    /// Starts what order_jobs says, again until it says nothing new.
    void start_in_order();
    /// What starts have changed since it was asked last.
    struct News {
        std::set<const UnitTypeView*> unit_types;
        std::set<std::string_view> projects;
    };
    News news_of_starts();
    bool concerns(const News& news, std::size_t job) const;
    /// Looks again at the jobs whose places starts have changed. False: there are none.
    bool view_again();
    std::vector<JobOption> with_run_times(std::vector<JobOption> options) const;
    /// True when some start could not be made, and units may be left for others.
    bool make_starts(const Asked& asked, const std::vector<OrderedStart>& starts);
    bool start_gang(const Asked& asked, const std::vector<OrderedStart>& members);
    bool start_at(std::size_t job, const JobOption& option);
    /// The order need not ask for this place again: for this job it is none.
    void lose(std::size_t job, const JobOption& option);
    /// Looks at what the order makes wait for better places. True when one of these places was none, and is gone.
    bool drop_vain_waits(const Asked& asked);
    void plan_rest();
    /// Starts it if it can without delaying others; else plans it where it would go by itself.
    void plan(std::size_t job);
    /// Plans it at the place that it waits for. False: on what is left there is none.
    bool plan_better(std::size_t job, std::size_t unit_type);
    void wait_for_winner(ScheduledWait wait);
    /// What overdue jobs that share no device wait for goes to nobody else: there may be enough free units for them,
    /// and yet no whole device as long as others start on these.
    void keep_for_overdue();
    /// For a job that waits for whole devices as many units are kept as soon as they are free, wherever: others who
    /// take units leave devices then, since centers fill devices of which somebody has a part first.
    void keep_free_for(const Candidate& winner, Reservation& planned) const;
    void set_turns();
    void tell_turns();

    Asked ask() const;
    /// On the ledger as it is.
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
    std::optional<CenterQueues> queues_;     ///< where one of the places has a queue
    std::vector<WaitingJobView> views_;      ///< of all jobs
    std::vector<bool> is_done_;              ///< decided: it starts, or it waits for something else than its turn
    std::vector<bool> is_refused_;           ///< its start did not come about; it is planned
    std::map<std::size_t, JobOptions> left_; ///< by job: its options, where some of them proved to be none
    std::map<std::size_t, std::size_t> deferred_starts_; ///< by job: the unit type that it waits for
    std::size_t viewed_starts_ = 0;                      ///< after which all jobs were looked at
    std::vector<OrderedPlace> ordered_;
    double typical_run_s_ = 0;
    std::size_t planned_ = 0; ///< jobs that wait for units, so far
    /// By kind: the first decisions, brief ones unless is_whole_wanted().
    std::unordered_map<std::string_view, std::shared_ptr<const Decision>> seen_;
};

} // namespace fathom
