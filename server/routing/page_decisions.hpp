#pragma once

#include "core/decide/better_wait.hpp"
#include "core/decide/fair_share.hpp"
#include "core/decide/order_jobs.hpp"
#include "server/routing/arrived_jobs.hpp"
#include "server/routing/busy_units.hpp"
#include "server/routing/project_use_store.hpp"
#include "server/routing/unit_ledger.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom::server {

/// A waiting job that is ready to be decided.
struct ReadyJob {
    std::string id;
    RouteRequest request; ///< `used` is filled in here
    double waited_s{};
    std::int64_t priority = 0;
    std::string gang; ///< project and gang, all of whose members are here; empty: none
    std::int64_t gang_size = 0;
    std::string kind; ///< equal for jobs whose requests are equal
};

/// A job that starts now. Its units are taken in the ledger.
struct DecidedStart {
    std::size_t job{}; ///< index into the jobs
    Decision decision;
    Candidate winner;
    std::string inputs; ///< JSON text: what it was decided by; empty for a probe
};

/// A job that waits.
struct DecidedWait {
    std::size_t job{};
    Decision decision;
    std::optional<Reservation> planned{}; ///< what the ledger keeps for it
    /// The free place that it leaves: it does better to wait for the winner.
    std::optional<Candidate> left_free{};
    double turn{}; ///< JobRow turn: smaller goes first
};

struct PageOutcome {
    std::vector<DecidedStart> starts;
    std::vector<DecidedWait> waits;
};

/// Turns of jobs that cannot start anywhere now, whatever is free: they are looked at last.
inline constexpr double kLastTurn = 1e6;

/// Decides which of the waiting jobs start now, and where; the others get a plan. Not thread-safe; no I/O.
///
/// Each job is decided by itself, oldest first, as long as all of them can start where suits them best. Where one
/// cannot, they are decided together: core/decide/order_jobs says who starts where, by run times on the units that are
/// free, with the load of each job's project counted as if the project's jobs before it had started. The others are
/// planned in the order of their turn; what still fits without delaying those before it starts, too, unless it does
/// better to wait for another place than to take what is free.
class PageDecisions {
  public:
    /// What projects hold and have used; moves with each start.
    struct Projects {
        std::vector<ProjectUse> uses;
        QuotaUses quota_uses;
    };

    /// @param ledger  what is free; starts and plans are reserved in it.
    /// @param knowledge  that the ledger decides by.
    /// @param busy  which units have been in use of late; it must outlive this.
    /// @param arrived  the jobs that came; these are added to it. It must outlive this.
    PageDecisions(UnitLedger& ledger, RouteKnowledge knowledge, Projects projects, const BusyUnits& busy,
                  ArrivedJobs& arrived, const OrderSettings& settings)
        : ledger_(&ledger), knowledge_(std::move(knowledge)), projects_(std::move(projects)), busy_(&busy),
          arrived_(&arrived), settings_(settings)
    {
    }

    /// `jobs` in order of id.
    PageOutcome decide(std::span<const ReadyJob> jobs);

  private:
    /// Empty when they must be decided together.
    std::optional<PageOutcome> decide_one_by_one(std::span<const ReadyJob> jobs);
    PageOutcome decide_together(std::span<const ReadyJob> jobs);
    /// Starts what order_jobs says, again until it says nothing new.
    void start_in_order(std::span<const ReadyJob> jobs);
    /// True when some start could not be made, and units may be left for others.
    bool make_starts(std::span<const ReadyJob> jobs, const std::vector<std::size_t>& view_jobs,
                     const std::vector<WaitingJobView>& views, const std::vector<OrderedStart>& starts);
    bool start_at(std::span<const ReadyJob> jobs, std::size_t job, const JobOption& option, std::string turn);
    void plan_rest(std::span<const ReadyJob> jobs);
    /// Starts it if it can without delaying others; else plans it where it would go by itself.
    void plan(std::span<const ReadyJob> jobs, std::size_t job);
    /// Plans it at the place that it waits for. False: that does not pay on what is left.
    bool plan_better(std::span<const ReadyJob> jobs, std::size_t job, const BetterWait& wait);
    void wait_for_winner(std::span<const ReadyJob> jobs, DecidedWait wait);
    void set_turns();

    /// The places of each job on the ledger as it is, into views_; what cannot start anywhere goes to the waits.
    void view_all(std::span<const ReadyJob> jobs);
    void note_arrival(const ReadyJob& job, const Decision& decision);
    void load_projects(std::span<const ReadyJob> jobs);
    std::vector<UnitTypeLoad> loads_now() const;

    Decision decide_now(const RouteRequest& request);
    RouteRequest with_use(const ReadyJob& job) const;
    void start(const ReadyJob& job, std::size_t index, const RouteRequest& request, Decision decision);
    Reservation reservation_of(const ReadyJob& job, const Candidate& winner) const;

    UnitLedger* ledger_;
    RouteKnowledge knowledge_;
    Projects projects_;
    const BusyUnits* busy_;
    ArrivedJobs* arrived_;
    OrderSettings settings_;
    PageOutcome outcome_;
    std::vector<WaitingJobView> views_; ///< of all jobs
    std::vector<double> worths_;        ///< of the unit types
    std::vector<double> busy_shares_;   ///< of the unit types
    std::vector<bool> is_done_;         ///< decided: it starts, or it waits for something else than its turn
    std::vector<bool> is_refused_;      ///< its start did not come about; it is planned
};

} // namespace fathom::server
