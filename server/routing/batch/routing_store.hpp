#pragma once

#include "core/base/clock.hpp"
#include "core/decide/routing/route.hpp"
#include "server/routing/batch/known_specs.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/row>

#include <chrono>
#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Rows of waiting jobs, reservations and placements. All functions take the caller's transaction, block, and
/// let pqxx's exceptions through to Database::run. Lock order everywhere: jobs by id, then unit types by id.
namespace fathom::server {

struct CatalogSnapshot;

/// A waiting job as the router claims it. Of the spec only what a decision needs is read, not what the job runs; its
/// type is job_type.
struct WaitingJob {
    JobId id;
    std::int64_t version{};
    std::string label;
    std::string job_type;
    std::string submitter;
    bool takes_operators{false}; ///< its operators are those of its type: it named none
    JobState state{JobState::kQueued};
    bool is_metered{false};
    bool may_divide{false};       ///< whether it runs whole or in parts is not decided yet
    bool is_part{false};          ///< what waits is a part of a divided job, with a deadline of its own
    bool is_metering_over{false}; ///< its time for metering has passed
    std::string waiting_reason;
    double reason_s{}; ///< for how long it has waited for that reason
    Timestamp submitted_at{};
    double priority_rank{};                 ///< as it was ordered last; 0: not yet
    std::vector<std::string> refused_by;    ///< RouteRequest::refused_by
    JobSpec spec;                           ///< with its type; empty where it could not be read
    std::shared_ptr<const KnownSpec> known; ///< what its specification was read as, and whether; never null
};
/// The row of a job as claims select it.
WaitingJob to_waiting_job(const pqxx::row& row, KnownSpecs& specs);
/// What a specification adds to the kind of a job: equal where that makes no difference to a decision.
std::string spec_kind_of(const JobSpec& spec, const CatalogSnapshot& catalog);
/// Equal for jobs that are decided alike. What the job is like in line does not matter.
std::string kind_of(const WaitingJob& job, const std::string& spec_kind);
/// The columns that to_waiting_job() reads.
extern const char* const kWaitingJobColumns;

/// The job types of all jobs that wait for probes.
std::vector<std::string> select_metering_types(pqxx::work& transaction);

/// A place in the line of waiting jobs: by priority rank, then oldest first.
struct LinePlace {
    double priority_rank{};
    std::string id; ///< empty: before all of that rank
    auto operator<=>(const LinePlace&) const = default;
};

/// For whom jobs are claimed, and which may be.
struct ClaimTerms {
    std::string replica;
    /// Job types whose probes have ended. Jobs of other types that wait for probes are left alone until their
    /// time for metering is over.
    std::vector<std::string> metered_types;
};
/// Which waiting jobs a batch claims.
struct ClaimRange {
    LinePlace after;
    std::int64_t limit{};
    ClaimTerms claim;
};
/// Waiting jobs in order of priority rank, locked for this transaction. Jobs that another replica holds, or decides on,
/// are skipped.
std::vector<WaitingJob> claim_waiting_jobs(pqxx::work& transaction, const ClaimRange& range, KnownSpecs& specs);
/// The oldest of all, whatever their priority ranks, in the same way.
std::vector<WaitingJob> claim_oldest_jobs(pqxx::work& transaction, std::int64_t limit, const ClaimTerms& terms,
                                          KnownSpecs& specs);

/// For so long, or until it claims others, the other replicas leave these jobs to this one.
void replace_routing_claim(pqxx::work& transaction, const std::string& replica, const std::vector<std::string>& jobs,
                           std::chrono::seconds lifetime);

/// A job as it was decided on.
struct DecidedJob {
    JobId id;
    std::int64_t version{};
};
/// Locks those that still wait as they did. @return their ids; the others have changed, or somebody else holds them.
std::set<std::string> lock_decided_jobs(pqxx::work& transaction, const std::vector<DecidedJob>& jobs);

/// The first waiting job after a place in the line, not locked: to step over one that cannot be claimed.
std::optional<LinePlace> select_next_waiting(pqxx::work& transaction, const LinePlace& after);

struct NewRank {
    JobId id;
    double priority_rank{};
};

struct NewAttempt {
    AttemptId id;
    JobId job_id;
    CenterId center_id;
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    bool is_exclusive{};            ///< its units are whole devices
    std::optional<double> run_s;    ///< predicted; empty when unknown
    std::optional<double> queued_s; ///< predicted, of one that waits for its unit at the center; empty: it has it now
    std::string decision;           ///< JSON text
    std::string inputs;             ///< JSON text; empty: not kept
};
/// Who decided, and in which cycle.
struct DecisionOrigin {
    std::string replica;
    std::string cycle{}; ///< id; empty: none is kept
};
/// Adds the attempts with their placements, and moves their jobs to `placed`. Their run times count from `start`: what
/// they were checked by must be what the next ones are checked by.
void insert_attempts(pqxx::work& transaction, const std::vector<NewAttempt>& attempts, const DecisionOrigin& origin,
                     Timestamp start);

struct WaitingReason {
    JobId id;
    std::string reason;
};
/// One update for each job, whether its reason, its priority rank or both are new.
void update_waiting(pqxx::work& transaction, const std::vector<WaitingReason>& reasons,
                    const std::vector<NewRank>& ranks);

struct MeteringStart {
    JobId id;
    std::int64_t wait_s{};
};
void update_to_metering(pqxx::work& transaction, const std::vector<MeteringStart>& jobs);
/// Back to `queued`, and never metered again.
void update_to_metered(pqxx::work& transaction, const std::vector<std::string>& ids);

/// What the explanation of a job needs.
struct PlacementRecord {
    JobId job_id;
    std::string label;
    std::string state;
    std::string submitted_by;
    std::string project;
    bool takes_operators{false};         ///< as WaitingJob
    std::vector<std::string> refused_by; ///< likewise
    std::string spec;                    ///< JSON text
    std::optional<std::string> attempt_id;
    std::optional<Timestamp> decided_at;
    std::string decided_by;
    std::string decision; ///< JSON text; empty when there is none yet
    std::string inputs;   ///< JSON text; empty when none were kept
    std::string cycle;    ///< id of the cycle in which it was decided; empty: none was kept
    std::optional<double> run_s;
    std::optional<double> wait_s; ///< from submission to start
    std::string job_type;
    std::string waiting_reason;
    std::int64_t jobs_ahead{}; ///< while it waits: those whose priority rank is smaller, at most 1 000
    // What was predicted for the attempt; all empty for a probe, or an attempt from before predictions were kept.
    std::optional<double> predicted_run_s; ///< 0: nothing was
    std::optional<double> low_s;
    std::optional<double> high_s;
    std::optional<double> predicted_wait_s; ///< from the decision to the start
    std::optional<double> wait_low_s;
    std::optional<double> wait_high_s;
    std::optional<double> actual_wait_s; ///< the same
    std::optional<double> cost;
    std::optional<double> actual_cost;
    std::string currency; ///< empty: there were no prices
};
std::optional<PlacementRecord> select_placement(pqxx::work& transaction, const JobId& id);

} // namespace fathom::server
