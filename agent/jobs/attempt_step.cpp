#include "agent/jobs/attempt_step.hpp"

namespace fathom::agent {
namespace {

Step while_starting(const AttemptFacts& facts)
{
    switch (facts.phase) {
    case RunPhase::kAbsent:
        if (facts.is_of_earlier_boot) return Step::kRecordLost;
        return facts.started_lately ? Step::kWait : Step::kStart;
    case RunPhase::kAlive:
        if (facts.runs) return Step::kReportStarted;
        return facts.cancelled ? Step::kCancel : Step::kWait;
    case RunPhase::kQueued:
        return facts.cancelled ? Step::kCancel : Step::kWait;
    case RunPhase::kEnded:
        return Step::kRecordEnd;
    case RunPhase::kVanished:
        return Step::kRecordLost;
    }
    return Step::kWait;
}

Step while_running(const AttemptFacts& facts)
{
    switch (facts.phase) {
    case RunPhase::kAbsent:
        return Step::kRecordLost; // its folder was deleted under it
    case RunPhase::kAlive:
    case RunPhase::kQueued: // again, by the batch system
        return facts.cancelled ? Step::kCancel : Step::kWait;
    case RunPhase::kEnded:
        return Step::kRecordEnd;
    case RunPhase::kVanished:
        return Step::kRecordLost;
    }
    return Step::kWait;
}

} // namespace

Step next_step(const AttemptFacts& facts)
{
    switch (facts.stage) {
    case Stage::kAccepted:
        return facts.cancelled ? Step::kEndUnstarted : Step::kGiveUnits;
    case Stage::kStarting:
        return while_starting(facts);
    case Stage::kRunning:
        return while_running(facts);
    case Stage::kEnded:
        return facts.output_done ? Step::kReportEnded : Step::kWait;
    case Stage::kReported:
    case Stage::kForgotten:
        return Step::kWait;
    }
    return Step::kWait;
}

} // namespace fathom::agent
