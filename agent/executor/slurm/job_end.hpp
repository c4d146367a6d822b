#pragma once

#include "agent/executor/batch/script_notes.hpp"
#include "agent/executor/slurm/slurm_text.hpp"
#include "core/model/attempt.hpp"

namespace fathom::agent {

// What Slurm's states mean for an attempt. Pure.

enum class SlurmPhase { kWaits, kRuns, kEnded };

/// States that are not known, of later versions of Slurm, count as running: they change nothing.
SlurmPhase phase_of(std::string_view state);

/// When the program of a job that runs or has ended began: the script's time where it is within Slurm's second.
std::optional<Timestamp> start_of(const SlurmJob& job, const ScriptNotes& notes);

/// How a job ended that Slurm shows as ended. Where the program had ended before Slurm ended the job otherwise, as a
/// controller does that was killed and comes back knowing less, that is the program's end; its run is then the longer
/// of what the script noted and what Slurm says. A job that was started again meanwhile is `lost`. A node's failure and
/// a failed boot are `node_failure`, a pre-emption `preempted`. A cancellation that nobody asked us for is `lost`: an
/// administrator's, or that of a slurmctld which comes back without the job. Where Slurm does not know what the script
/// ended with (SlurmJob::knows_status), its note says it; without one the job is `lost`. `now` where Slurm gives no
/// time. Of kNeverStarts the detail is for the caller to end with the reason, of kOutOfMemory with the memory that the
/// job had.
AttemptEnd end_of(const SlurmJob& job, const ScriptNotes& notes, EndAsked asked, Timestamp now);

/// How a job's program ended of which Slurm does not know that it has, as when its controller was killed just after it
/// heard so: as its script noted, but not before `ran_until`, when it was last seen without that note; where we asked
/// for the end and a signal ended it, as we asked. nullopt: it noted no end.
std::optional<AttemptEnd> end_of_notes(const ScriptNotes& notes, EndAsked asked, std::optional<Timestamp> ran_until);

/// How a job ended that Slurm has forgotten: as end_of_notes() says, else as we asked, else it is lost.
AttemptEnd end_of_forgotten(const ScriptNotes& notes, EndAsked asked, std::optional<Timestamp> ran_until,
                            Timestamp now);

} // namespace fathom::agent
