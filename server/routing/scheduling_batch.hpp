#pragma once

#include "core/base/clock.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/catalog/columns_of_catalog.hpp"
#include "server/events/job_event_log.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/ports/waiting_job_terminator.hpp"
#include "server/routing/cycle_ledger.hpp"
#include "server/routing/cycle_recorder.hpp"
#include "server/routing/gang_store.hpp"
#include "server/routing/prediction_store.hpp"
#include "server/routing/project_uses.hpp"
#include "server/routing/routing_store.hpp"
#include "server/routing/unit_loads.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// Units that are planned for a job that waits.
struct PlannedUnits {
    std::string job;
    Reservation reservation;
};
std::vector<Reservation> reservations_of(const std::vector<PlannedUnits>& planned);

/// What a cycle of the router carries from batch to batch. A value: a transaction that runs again begins with the
/// same one.
struct CycleCursor {
    LinePlace after;                   ///< of the last job that was looked at in turn
    std::set<std::string> seen;        ///< ids of all that were looked at: a new turn may put a job into a later batch
    std::set<GangKey> gangs;           ///< whose members were claimed
    std::vector<PlannedUnits> planned; ///< for jobs that were looked at and wait
    bool is_tick{false};               ///< look at waiting jobs even when no unit is free
    /// Job types whose probes have ended; looked up by the first batch.
    std::vector<std::string> metered_types;
    std::map<std::string, std::string> refusals; ///< of those, why their probe task was refused
    bool are_types_known{false};
};

/// What one batch did.
struct BatchReport {
    CycleCursor next;
    bool is_done{false};       ///< nothing more to do in this cycle
    bool is_end{false};        ///< no waiting job comes after these
    bool has_free_unit{false}; ///< after what was placed and planned
    std::int64_t placed{};
    std::set<std::string> placed_jobs; ///< ids
    std::int64_t waiting{};
    std::int64_t metering{};
    std::int64_t conflicts{};        ///< placements that another replica's made impossible; decided again
    std::int64_t overdue{};          ///< ended, since their deadline had passed
    double decision_s{};             ///< time in decisions
    std::vector<TakenUnits> started; ///< units that were given to projects
    /// When the first of these jobs that wait for a network window must be looked at again.
    std::optional<Timestamp> next_window;
};

struct RoutingSettings {
    ReplicaId replica;
    std::chrono::seconds metering_period{604800};
    CycleRecorder* recorder = nullptr; ///< keeps what each batch is decided on; nullptr: nothing is kept
};

/// Routes one batch of waiting jobs in three steps: read() in a transaction, plan() in none, with nothing locked, and
/// commit() in a second one, which keeps what still holds: jobs that wait as they did, units that are free, quotas that
/// are left. A batch holds the next jobs in turn; the first of a cycle also the oldest of all, so that none waits
/// unseen; and with a member of a gang come the others. Not thread-safe; one object for each batch, and for each run of
/// read().
class SchedulingBatch {
  public:
    SchedulingBatch(const RoutingSettings& settings, CatalogCache& catalog, ProbePlanner& planner,
                    WaitingJobTerminator& terminator, ProjectUses& uses, ColumnsOfCatalog& columns,
                    std::shared_ptr<const UnitTypeLoads> loads, const Clock& clock, CycleLedger& ledger);

    /// Claims jobs and reads what they are decided by. Does what comes before a decision: ends what is overdue, has
    /// measured what must be first. Blocks; pqxx's exceptions pass through.
    /// @error what the planner said, when it could not work now.
    Result<void> read(pqxx::work& transaction, CycleCursor state, std::int64_t limit);
    /// Whether there are jobs to decide on; else report() is all.
    bool has_ready() const { return !input_.jobs.empty(); }
    const BatchReport& report() const { return report_; }
    /// Decides: only computes. @error kInvalid  a job's operators are no longer known.
    Result<void> plan();
    /// Writes what still holds of the plan. Leaves the batch as it is, so that it may be run again. Blocks; pqxx's
    /// exceptions pass through.
    Result<BatchReport> commit(pqxx::work& transaction) const;
    /// After plan(), once: what was decided on, for the recorder; empty without one.
    std::optional<DecidedCycle> take_cycle() { return std::exchange(cycle_, std::nullopt); }

  private:
    /// A decision that starts its job now.
    struct Placement {
        JobId job;
        Decision decision;
        Candidate winner;
        std::optional<double> queued_s{}; ///< of one that waits for its unit at the center; empty: it has it now
        bool has_run_time{false};
        bool is_probe{false};
        NewPrediction prediction; ///< kept unless it is a probe
        std::string inputs;       ///< JSON text of what was decided on; empty for a probe
        std::string project;
        std::string gang;              ///< its key as text; empty: none
        GpuMemoryRequest gpu_memory{}; ///< that the job needs
    };
    /// Which of the placements can be written, and the moment at which they start.
    struct CheckedPlacements {
        std::vector<bool> is_good;
        Timestamp start{};
    };
    /// A member of a gang that can never start.
    struct GangEnd {
        JobId job;
        std::string label;
        std::string reason;
    };
    /// A job that is to be decided now.
    struct Ready {
        WaitingJob job;
        RouteRequest request;
    };

    /// What is in use, for the ledger that the cycle is going to make.
    UseOfUnits read_use_of_units(pqxx::work& transaction);
    /// Claims the jobs of this batch, in order of id; each job once in a cycle.
    std::vector<WaitingJob> claim(pqxx::work& transaction, std::int64_t limit);
    /// Adds the other members of the gangs of `jobs`. @return the gangs that this batch has no room for
    std::set<GangKey> claim_gangs(pqxx::work& transaction, std::vector<WaitingJob>& jobs);
    /// Leaves gangs to the next batch, which begins with the first of them.
    /// @param in_turn  how many of `jobs`, from the first, are on the batch because of their turn.
    void end_before(const std::set<GangKey>& left, std::vector<WaitingJob>& jobs, std::ptrdiff_t in_turn);
    /// Ends the job, starts its metering, or makes the job ready.
    Result<void> prepare(pqxx::work& transaction, const WaitingJob& job);
    /// Asks for the measurements that the job lacks (M10). @return true when the job now waits for probes.
    Result<bool> meter(pqxx::work& transaction, WaitingJob& job);
    void start_metering(const WaitingJob& job, const std::vector<std::string>& places, const RequestedProbes& probes);
    /// Why a job is placed without the probes that it should have had; for its events.
    void note_obstacle(WaitingJob& job, const std::string& obstacle);
    void finish_metering(pqxx::work& transaction, const WaitingJob& job);
    Result<void> find_metered_types(pqxx::work& transaction);
    /// The operators of a job for a decision, and those of its probe task; each computed once for equal jobs.
    struct KnownDemands {
        std::vector<OperatorDemand> own;
        std::vector<OperatorDemand> probed;
    };
    Result<const KnownDemands*> demands_of(const WaitingJob& job);
    /// spec_kind_of(); of the catalog that the batch decides by.
    const std::string& spec_kind_of(const KnownSpec& spec);
    Result<RouteRequest> request_of(const WaitingJob& job);
    Result<RouteRequest> metering_request_of(const WaitingJob& job);
    /// Asks for probes, once for all jobs of this batch that ask for the same.
    Result<RequestedProbes> request_probes(pqxx::work& transaction, const WaitingJob& job,
                                           const std::vector<UnitTypeId>& targets);
    std::vector<std::string> unmeasured_places(const RouteRequest& request);
    /// "CENTER/UNIT_TYPE" of each place, which is an index into the catalog's unit types.
    std::vector<std::string> names_of(const std::vector<std::size_t>& places) const;
    /// Ends the job if its deadline has passed. @return false when there is time left.
    Result<bool> end_overdue(pqxx::work& transaction, const WaitingJob& job);

    /// The ledger that the batch decides on, as of the beginning of the batch.
    UnitLedger& begin_ledger();
    /// Makes the ready jobs the input of the plan, all but members of gangs that are not complete, which wait.
    void read_input(pqxx::work& transaction);
    std::vector<std::size_t> leave_out_gangs(pqxx::work& transaction);
    /// Those of a gang's ready members that are decided now; the others wait, for what the counts of all say.
    std::vector<std::size_t> gather_gang(const std::string& gang, const std::vector<std::size_t>& members,
                                         const GangMembers& count);
    void read_projects(pqxx::work& transaction);
    /// Whether nothing was noted but claims, reasons of waits and turns, all of which the next cycle finds again.
    bool only_claims() const;
    /// Writes the notes so far, and forgets them.
    void write_notes(pqxx::work& transaction);
    Result<void> place(const Ready& ready, ScheduledStart start);
    /// Keeps for the recorder what the batch is going to be decided on.
    void note_cycle(const UnitLedger& units);
    void keep_waiting(const std::vector<ScheduledWait>& waits);
    /// Gangs that even an idle network could not start together wait for a while, since missing units may come back;
    /// then these gangs end. @return the ids of their members.
    std::set<std::string> settle_impossible_gangs(const UnitLedger& network, const std::vector<ScheduledWait>& waits);
    struct GangNeed;
    /// Of the gangs whose members wait.
    std::map<GangKey, GangNeed> gang_needs(const UnitLedger& network, const std::vector<ScheduledWait>& waits) const;
    void settle_impossible_gang(const std::string& gang, const GangNeed& need);
    /// The decided jobs of which something is to be written: only these are locked, since a row lock is a write, too.
    std::vector<DecidedJob> changed_jobs() const;
    /// Notes why a job waits, and its priority rank, where these have changed.
    void note_reason(const WaitingJob& job, const std::string& reason);
    void note_rank(const WaitingJob& job, double rank);
    struct LockedPlaces;
    /// Locks the unit types and the projects with quotas of the placements.
    LockedPlaces lock_places(pqxx::work& transaction) const;
    /// Takes the units, or a place in the line at the center. @return false when these are gone.
    static bool take_units(const Placement& placement, LockedPlaces& locked);
    /// Takes what the job needs of its project's quota, if there is one. @return false when not so much is left.
    bool take_quota(const Placement& placement, LockedPlaces& locked) const;
    /// Which of the placements can be written: of jobs that are `held`, under the locks of their unit types and of
    /// projects with quotas. Of a gang all or none.
    CheckedPlacements check_placements(pqxx::work& transaction, const std::set<std::string>& held) const;
    NewAttempt attempt_of(const Placement& placement) const;
    void commit_placements(pqxx::work& transaction, const std::set<std::string>& held, BatchReport& report) const;
    Result<void> end_gangs(pqxx::work& transaction, const std::set<std::string>& held) const;
    /// The decisions of this batch must not rest on an older catalog than the probes that just ended.
    void ensure_fresh_catalog(pqxx::work& transaction);
    bool is_worth_a_look(const WaitingJob& job) const;

    /// Whether the whole batch is to be tried again later after this error. False for errors of one job's content,
    /// which must not stop the other jobs.
    static bool may_succeed_again(Errc code);
    /// The same text for jobs that execute the same operators.
    static std::string key_of(const std::vector<OperatorUse>& operators);

    const RoutingSettings* settings_;
    CatalogCache* cache_;
    ProbePlanner* planner_;
    WaitingJobTerminator* terminator_;
    ProjectUses* uses_;
    ColumnsOfCatalog* columns_;
    std::shared_ptr<const UnitTypeLoads> loads_;
    const Clock* clock_;
    CycleLedger* ledger_;
    Timestamp now_; ///< of the decisions
    CatalogPointer catalog_;
    bool is_fresh_ = false;
    bool has_free_unit_ = false;
    std::vector<KnownGpuRoom> gpu_rooms_;        ///< for the ledger of the cycle, where it has none yet that serves
    std::optional<UnmeasuredPlaces> unmeasured_; ///< of catalog_
    BatchReport report_;
    std::vector<Ready> ready_;         ///< in order of id
    std::vector<std::size_t> decided_; ///< which of them are the jobs of the input
    ScheduleInput input_;
    std::optional<DecidedCycle> cycle_;
    std::string cycle_id_; ///< empty: the cycle is not kept
    std::vector<Placement> placements_;
    std::vector<GangEnd> gang_ends_;
    std::vector<WaitingReason> reasons_;
    std::vector<NewRank> ranks_;
    std::vector<NewJobEvent> events_;
    std::vector<MeteringStart> metering_;
    std::vector<std::string> metered_;
    std::map<std::string, RequestedProbes> requested_;  ///< by job type, operators and unit types
    KnownSpecs specs_;                                  ///< of the batch's jobs
    std::map<std::string, KnownDemands> known_demands_; ///< by operators: formulas are slow
    std::unordered_map<const KnownSpec*, const KnownDemands*> demands_of_spec_;
    std::unordered_map<const KnownSpec*, std::string> spec_kinds_;
};

} // namespace fathom::server
