#include "agent/jobs/attempt_step.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

TEST(AttemptStep, GivesUnitsFirstUnlessItWasCancelled)
{
    EXPECT_EQ(next_step({.stage = Stage::kAccepted}), Step::kGiveUnits);
    EXPECT_EQ(next_step({.stage = Stage::kAccepted, .cancelled = true}), Step::kEndUnstarted);
}

TEST(AttemptStep, StartsAgainOnlyWhatHasNeverBeenStarted)
{
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kAbsent}), Step::kStart);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kAbsent, .started_lately = true}), Step::kWait);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kAlive}), Step::kWait);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kVanished}), Step::kRecordLost);
    EXPECT_EQ(next_step({.stage = Stage::kRunning, .phase = RunPhase::kAbsent}), Step::kRecordLost);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kAbsent, .is_of_earlier_boot = true}),
              Step::kRecordLost)
        << "a power failure may have taken the marker that it was";
}

TEST(AttemptStep, TellsOfTheStartBeforeTheEnd)
{
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kAlive, .runs = true}), Step::kReportStarted);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kEnded, .runs = true}), Step::kRecordEnd);
    EXPECT_EQ(next_step({.stage = Stage::kRunning, .phase = RunPhase::kEnded, .runs = true}), Step::kRecordEnd);
}

TEST(AttemptStep, WaitsAsLongAsABatchSystemDoes)
{
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kQueued}), Step::kWait);
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kQueued, .is_of_earlier_boot = true}),
              Step::kWait)
        << "the batch system's host was not started anew";
    EXPECT_EQ(next_step({.stage = Stage::kStarting, .phase = RunPhase::kQueued, .cancelled = true}), Step::kCancel);
    EXPECT_EQ(next_step({.stage = Stage::kRunning, .phase = RunPhase::kQueued}), Step::kWait);
}

TEST(AttemptStep, ReportsTheEndAfterAllOutput)
{
    EXPECT_EQ(next_step({.stage = Stage::kEnded}), Step::kWait);
    EXPECT_EQ(next_step({.stage = Stage::kEnded, .output_done = true}), Step::kReportEnded);
    EXPECT_EQ(next_step({.stage = Stage::kReported, .output_done = true}), Step::kWait);
}

TEST(AttemptStep, RepeatsACancellationUntilTheEnd)
{
    EXPECT_EQ(next_step({.stage = Stage::kRunning, .phase = RunPhase::kAlive, .runs = true, .cancelled = true}),
              Step::kCancel);
    EXPECT_EQ(next_step({.stage = Stage::kRunning, .phase = RunPhase::kEnded, .runs = true, .cancelled = true}),
              Step::kRecordEnd);
}

} // namespace
} // namespace fathom::agent
