#pragma once

#include "core/model/attempt.hpp"
#include "core/model/job.hpp"
#include "schema/link/messages.hpp"
#include "server/ports/attempt_gateway.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Rows of attempts and what follows for their jobs. Changes of state compare and set: the first writer wins,
/// later ones are told so. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run. Lock order everywhere: the job, then its attempt.
namespace fathom::server {

/// The job behind an attempt, locked.
struct AttemptJob {
    JobId job_id;
    std::string label;
    JobState job_state{JobState::kQueued};
    bool is_placed{false}; ///< the attempt is not known to have reached its center
    bool is_cancel_requested{false};
    bool may_requeue{false}; ///< when the attempt ends through its center (is_centers_doing), its job may run again
    std::int64_t wall_limit_s{};
    std::string center; ///< its name
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    std::string job_type;
    std::string submitted_by;
    std::string project;
    bool names_operators{false}; ///< it was submitted with operators of its own
    bool moves_data{false};      ///< its prediction has the time of transfers in it
    bool is_part{false};         ///< the attempt is that of a part of a divided job
    bool takes_outputs{false};   ///< some of its inputs are outputs of earlier jobs
    double ordered_s{};          ///< since its order was sent, or else the attempt was made, by our clock
};
/// Before several of a center's attempts are changed in one transaction: two that do so cannot wait for each other.
void lock_jobs_of_attempts(pqxx::work& transaction, const std::vector<std::string>& attempts, const CenterId& center);
/// @error kNotFound     there is no such attempt, or it belongs to another center.
/// @error kUnavailable  the reporter's session was superseded or its center revoked.
Result<AttemptJob> lock_attempt_job(pqxx::work& transaction, const AttemptId& attempt, const Reporter& reporter);
/// Whether the reporter still speaks for its center. @error kUnavailable  it does not.
Result<void> check_reporter(pqxx::work& transaction, const Reporter& reporter);

/// placed -> dispatched. False when it is past that.
bool update_to_dispatched(pqxx::work& transaction, const AttemptId& attempt);
/// placed, dispatched -> running, with what the agent reports of it. False when it is past that.
bool update_to_running(pqxx::work& transaction, const link::AttemptStarted& started);
/// M14: of a probe whose center counts, gives back what was reserved beyond the units that it reports. False when that
/// is nothing.
bool update_counted_units(pqxx::work& transaction, const link::AttemptStarted& started);
struct EndedAttemptRow {
    bool is_first{};      ///< false: it has ended before, and nothing was changed
    double predicted_s{}; ///< the run time that was; 0: none was
};
/// Any -> ended, and what was predicted for it gets what came.
/// @param cost       what it has cost; empty: nobody knows.
/// @param program_s  how long its program ran, where its units were held for longer.
EndedAttemptRow update_to_ended(pqxx::work& transaction, const AttemptEnd& end, std::optional<double> cost,
                                std::optional<double> program_s);
/// Keeps what a center says of an attempt that was taken for lost or cancelled before, for its bill; once.
void insert_late_end(pqxx::work& transaction, const AttemptEnd& end);
/// Whether it has ended in another way than by its program's own exit: lost, or cancelled.
bool has_not_exited(pqxx::work& transaction, const AttemptId& attempt);

/// Moves a live job. False when it is there already, or has ended.
bool update_job_state(pqxx::work& transaction, const JobId& job, JobState state);
/// Takes the job to `running`, with its start.
bool update_job_started(pqxx::work& transaction, const JobId& job, Timestamp started_at);

struct EndedJob {
    JobId id;
    JobState state{JobState::kFailed};
    std::string reason;
    std::optional<std::int64_t> exit_code;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> ended_at; ///< empty: now
    std::optional<double> run_s;
    std::optional<AttemptOutcome> outcome; ///< of its last attempt; empty when there was none
};
/// False when it has ended before.
bool update_job_ended(pqxx::work& transaction, const EndedJob& job);

struct HeldAttempt {
    AttemptId id;
    bool is_ended{false};
};
/// Which of these attempts are of this center, and how they stand.
std::vector<HeldAttempt> select_attempts(pqxx::work& transaction, const CenterId& center,
                                         const std::vector<std::string>& ids);
/// Attempts that the center should hold but does not name in `held`: dispatched or running ones, and cancelled
/// ones whose order was sent.
std::vector<AttemptId> select_missing_attempts(pqxx::work& transaction, const CenterId& center,
                                               const std::vector<std::string>& held);
std::string select_center_name(pqxx::work& transaction, const CenterId& center);

/// Keeps what the attempt was seen to execute. `profile` is JSON text of at most kMaxProfileBytes.
void insert_profile(pqxx::work& transaction, const AttemptId& attempt, const std::string& profile);
/// Puts an ended job in line for its type to learn from, unless another of the type, its submitter and its project
/// waits there.
void enqueue_learning(pqxx::work& transaction, const JobId& job);

/// A live job whose center came or went, locked.
struct AffectedJob {
    JobId job_id;
    std::string label;
    AttemptId attempt_id;
    std::string attempt_state;
    bool is_sent{false};     ///< the center may have the attempt
    bool may_requeue{false}; ///< as AttemptJob's
    std::string center;
};
/// Jobs on centers that are lost, not marked so; at most 500. Jobs that another replica holds are skipped.
std::vector<AffectedJob> lock_jobs_of_lost_centers(pqxx::work& transaction);
/// Lost jobs on centers that are back.
std::vector<AffectedJob> lock_jobs_of_returned_centers(pqxx::work& transaction);

} // namespace fathom::server
