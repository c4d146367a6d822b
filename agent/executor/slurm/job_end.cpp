#include "agent/executor/slurm/job_end.hpp"

#include "core/model/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace fathom::agent {
namespace {

using std::chrono::seconds;

constexpr const char* kNeverStartsDetail = "Slurm would never start it";

/// Slurm's seconds are whole.
bool is_close(Timestamp a, Timestamp b)
{
    return std::chrono::abs(a - b) <= seconds(2);
}

void set_exit_of_status(AttemptEnd& end, std::int64_t wait_status)
{
    const int status = static_cast<int>(wait_status);
    if (!WIFSIGNALED(status)) return set_exit(end, WEXITSTATUS(status));
    end.outcome = AttemptOutcome::kSignalled;
    end.signal = std::clamp(WTERMSIG(status), 1, kLastSignal);
}

/// Of states in which Slurm ended the job itself. What is REVOKED runs at another cluster of a federation, where nobody
/// looks after it: it is lost.
AttemptOutcome outcome_of_state(const std::string& state)
{
    if (state == "OUT_OF_MEMORY") return AttemptOutcome::kOutOfMemory;
    if (state == "NODE_FAIL" || state == "BOOT_FAIL") return AttemptOutcome::kNodeFailure;
    return state == "PREEMPTED" ? AttemptOutcome::kPreempted : AttemptOutcome::kLost;
}

void set_asked(AttemptEnd& end, EndAsked asked)
{
    if (asked == EndAsked::kCancelled) end.outcome = AttemptOutcome::kCancelled;
    if (asked == EndAsked::kWallLimit) end.outcome = AttemptOutcome::kWallLimit;
    if (asked == EndAsked::kNeverStarts) {
        end.outcome = AttemptOutcome::kFailedToStart;
        end.detail = kNeverStartsDetail;
    }
}

void set_outcome(AttemptEnd& end, const SlurmJob& job, EndAsked asked)
{
    const std::string where = job.nodes.empty() ? "" : " on " + job.nodes;
    if (job.state == "FAILED" && !job.knows_status) {
        end.outcome = AttemptOutcome::kLost;
        end.detail = "it failed" + where + ", but Slurm's accounting does not tell how, and its script has left no end";
    } else if (job.state == "COMPLETED" || job.state == "FAILED") {
        set_exit_of_status(end, job.wait_status);
        if (job.state == "FAILED" && job.wait_status == 0) { // it never ran
            end.outcome = AttemptOutcome::kFailedToStart;
            end.exit_code.reset();
            end.detail = "Slurm could not start it: " + (job.reason.empty() ? "no reason given" : job.reason);
        }
    } else if (job.state == "TIMEOUT" || job.state == "DEADLINE" || asked == EndAsked::kWallLimit) {
        end.outcome = AttemptOutcome::kWallLimit;
    } else if (job.state == "CANCELLED" && asked == EndAsked::kCancelled) {
        end.outcome = AttemptOutcome::kCancelled;
    } else if (job.state == "CANCELLED" && asked == EndAsked::kNeverStarts) {
        end.outcome = AttemptOutcome::kFailedToStart;
        end.detail = kNeverStartsDetail;
    } else if (job.state == "CANCELLED") {
        // By the center, or by Slurm itself, as a controller does that comes back without knowing the job.
        end.outcome = AttemptOutcome::kLost;
        end.detail = "cancelled in Slurm at the center" + where + ", not by who submitted it";
    } else {
        end.outcome = outcome_of_state(job.state);
        end.detail = "Slurm ended it as " + job.state + where;
        if (end.outcome != AttemptOutcome::kOutOfMemory) return;
        end.signal = SIGKILL;
        end.detail = out_of_memory_detail("Slurm killed it" + where);
    }
}

bool has_end(const ScriptNotes& notes)
{
    return notes.started_at && notes.exit_code && notes.ended_at;
}

/// Whether the program had ended, and was noted to have, before Slurm ended the job in another way. What Slurm says of
/// memory stands: it knows of a kill that the program survived. So does a pre-emption, which may give the program time
/// to end.
bool had_ended(const SlurmJob& job, const ScriptNotes& notes, EndAsked asked)
{
    if (!has_end(notes)) return false;
    if (!job.knows_status) return true;
    if (job.state == "COMPLETED" || job.state == "OUT_OF_MEMORY" || job.state == "PREEMPTED") return false;
    // So ends what Slurm kills, or a node that is shut down.
    if (*notes.exit_code == kShellSignalled + SIGTERM || *notes.exit_code == kShellSignalled + SIGKILL) return false;
    // What we ended notes its end within moments of Slurm's, by another clock.
    const seconds tolerance(asked == EndAsked::kNo ? 0 : 2);
    return !job.end || *notes.ended_at + tolerance < *job.end;
}

/// Whether the end that the script noted is that of an earlier start than the one that Slurm tells of.
bool is_of_earlier_start(const SlurmJob& job, const ScriptNotes& notes)
{
    return has_end(notes) && job.start && *notes.ended_at < *job.start;
}

/// Whether the script found that it had been started before, and ended at once.
bool was_started_again(const SlurmJob& job, const ScriptNotes& notes)
{
    constexpr seconds kAtOnce(60);
    return notes.is_started_again && job.state == "FAILED" && job.start && job.end && *job.end - *job.start <= kAtOnce;
}

/// Slurm's times and the script's, of which the longer run counts: none gains by notes that are not true.
void set_times_of_earlier_start(AttemptEnd& end, const ScriptNotes& notes)
{
    if (end.started_at && *notes.ended_at - *notes.started_at <= end.ended_at - *end.started_at) return;
    end.started_at = notes.started_at;
    end.ended_at = *notes.ended_at;
}

void set_times(AttemptEnd& end, const ScriptNotes& notes)
{
    if (!end.started_at) return;
    end.ended_at = std::max(end.ended_at, *end.started_at);
    end.run_s = std::chrono::duration<double>(end.ended_at - *end.started_at).count();
    end.cpu_s = notes.cpu_s;
}

} // namespace

SlurmPhase phase_of(std::string_view state)
{
    constexpr std::array kWaiting{"PENDING",      "CONFIGURING",  "REQUEUED",     "REQUEUE_FED",
                                  "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
    constexpr std::array kEnded{"COMPLETED", "FAILED",    "TIMEOUT",       "CANCELLED", "NODE_FAIL",
                                "PREEMPTED", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE",  "REVOKED"};
    const auto is_one_of = [&](const auto& states) {
        return std::any_of(states.begin(), states.end(), [&](const char* one) { return state == one; });
    };
    if (is_one_of(kWaiting)) return SlurmPhase::kWaits;
    return is_one_of(kEnded) ? SlurmPhase::kEnded : SlurmPhase::kRuns;
}

std::optional<Timestamp> start_of(const SlurmJob& job, const ScriptNotes& notes)
{
    if (!job.start) return std::nullopt;
    // The script begins after what the site does first on the node, which may take minutes.
    if (notes.started_at && *notes.started_at >= *job.start && (!job.end || *notes.started_at <= *job.end + seconds(2)))
        return notes.started_at;
    return job.start;
}

AttemptEnd end_of(const SlurmJob& job, const ScriptNotes& notes, EndAsked asked, Timestamp now)
{
    AttemptEnd end;
    end.ended_at = job.end.value_or(now);
    const bool has_run = !job.nodes.empty();
    if (has_run) end.started_at = start_of(job, notes);
    end.nodes = job.nodes.substr(0, kMaxNodesBytes); // ASCII, as the job's line was read
    if (job.end && notes.ended_at && is_close(*notes.ended_at, *job.end)) end.ended_at = *notes.ended_at;
    const bool had_end = had_ended(job, notes, asked);
    if (is_of_earlier_start(job, notes) || (had_end && !end.started_at)) set_times_of_earlier_start(end, notes);
    if (had_end) {
        set_exit(end, static_cast<int>(*notes.exit_code));
    } else if (was_started_again(job, notes)) {
        end.outcome = AttemptOutcome::kLost;
        end.detail = "Slurm started it again, and its script had left no end of the first start";
    } else {
        set_outcome(end, job, asked);
    }
    set_times(end, notes);
    return end;
}

std::optional<AttemptEnd> end_of_notes(const ScriptNotes& notes, EndAsked asked, std::optional<Timestamp> ran_until)
{
    if (!has_end(notes)) return std::nullopt;
    AttemptEnd end;
    end.started_at = notes.started_at;
    end.ended_at = std::max(*notes.ended_at, ran_until.value_or(*notes.ended_at));
    if (asked != EndAsked::kNo && *notes.exit_code > kShellSignalled)
        set_asked(end, asked);
    else
        set_exit(end, static_cast<int>(*notes.exit_code));
    set_times(end, notes);
    return end;
}

AttemptEnd end_of_forgotten(const ScriptNotes& notes, EndAsked asked, std::optional<Timestamp> ran_until, Timestamp now)
{
    if (std::optional<AttemptEnd> end = end_of_notes(notes, asked, ran_until)) {
        if (end->exit_code || end->signal)
            end->detail = "Slurm does not know the job any more; its script says how it ended";
        return *std::move(end);
    }
    AttemptEnd end;
    end.started_at = notes.started_at;
    end.ended_at = notes.ended_at.value_or(now);
    end.outcome = AttemptOutcome::kLost;
    end.detail = "Slurm does not know the job any more, and its script has left no end";
    set_asked(end, asked);
    set_times(end, notes);
    return end;
}

} // namespace fathom::agent
