#pragma once

#include "agent/executor/executor.hpp"
#include "agent/spool/spool.hpp"

namespace fathom::agent {

/// What is to be done next for an attempt.
enum class Step {
    kWait,
    kGiveUnits,    ///< and then start it
    kEndUnstarted, ///< it was cancelled before it was given units
    kStart,        ///< ask the executor (again)
    kReportStarted,
    kCancel,     ///< ask the executor (again) to end it
    kRecordEnd,  ///< the executor knows how it ended
    kRecordLost, ///< nobody knows how it ended
    kReportEnded,
};

/// All that the decision rests on.
struct AttemptFacts {
    Stage stage = Stage::kAccepted;
    RunPhase phase = RunPhase::kAbsent;
    bool runs = false; ///< the executor knows when the program started
    bool cancelled = false;
    bool started_lately = false;     ///< the executor was asked so lately that it may not show yet
    bool is_of_earlier_boot = false; ///< what the executor shows may have been forgotten by a power failure
    bool output_done = false;        ///< the metascheduler has all of its output
};

/// The state machine of an attempt (see Stage). Pure.
Step next_step(const AttemptFacts& facts);

} // namespace fathom::agent
