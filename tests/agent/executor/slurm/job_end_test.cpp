// What Slurm's states mean for an attempt.

#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/job_end.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace fathom::agent {
namespace {

using testing::HasSubstr;

const Timestamp kStart = parse_rfc3339("2026-11-24T10:00:00Z").value();
const Timestamp kEnd = parse_rfc3339("2026-11-24T10:00:07Z").value();

SlurmJob job_in(const std::string& state, std::int64_t wait_status = 0)
{
    return {.id = "7",
            .name = "att",
            .state = state,
            .wait_status = wait_status,
            .start = kStart,
            .end = kEnd,
            .nodes = "n1",
            .reason = "None"};
}

AttemptEnd end_in(const std::string& state, std::int64_t wait_status = 0, EndAsked asked = EndAsked::kNo)
{
    return end_of(job_in(state, wait_status), {}, asked, kEnd);
}

TEST(SlurmJobEnd, TellsHowItEnded)
{
    EXPECT_EQ(end_in("COMPLETED").exit_code, 0);
    EXPECT_EQ(end_in("FAILED", 3 << 8).exit_code, 3);
    EXPECT_EQ(end_in("FAILED", 139 << 8).signal, 11);
    EXPECT_EQ(end_in("FAILED", 9).signal, 9);
    EXPECT_EQ(end_in("TIMEOUT").outcome, AttemptOutcome::kWallLimit);
    EXPECT_EQ(end_in("CANCELLED", 15, EndAsked::kWallLimit).outcome, AttemptOutcome::kWallLimit);
    EXPECT_EQ(end_in("CANCELLED", 15, EndAsked::kCancelled).outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(end_in("CANCELLED", 15).outcome, AttemptOutcome::kLost);
    EXPECT_THAT(end_in("CANCELLED", 15).detail, HasSubstr("at the center"));
}

TEST(SlurmJobEnd, IsTheScriptsWhereSlurmDoesNotKnowTheStatus)
{
    SlurmJob job = job_in("FAILED");
    job.knows_status = false;
    ScriptNotes notes{.started_at = kStart, .ended_at = kEnd + std::chrono::milliseconds(300), .exit_code = 7};

    EXPECT_EQ(end_of(job, notes, EndAsked::kNo, kEnd).exit_code, 7);

    notes = {};
    notes.started_at = kStart;
    const AttemptEnd end = end_of(job, notes, EndAsked::kNo, kEnd);
    EXPECT_EQ(end.outcome, AttemptOutcome::kLost);
    EXPECT_THAT(end.detail, HasSubstr("does not tell how"));
}

/// The outcome and what people are told, for each state in which Slurm ended a job itself.
TEST(SlurmJobEnd, TellsWhatTheClusterDid)
{
    struct Golden {
        const char* state;
        AttemptOutcome outcome;
        const char* detail;
    };
    constexpr std::array<Golden, 7> goldens{
        {{"OUT_OF_MEMORY", AttemptOutcome::kOutOfMemory, "out of memory: Slurm killed it on n1"},
         {"NODE_FAIL", AttemptOutcome::kNodeFailure, "Slurm ended it as NODE_FAIL on n1"},
         {"BOOT_FAIL", AttemptOutcome::kNodeFailure, "Slurm ended it as BOOT_FAIL on n1"},
         {"PREEMPTED", AttemptOutcome::kPreempted, "Slurm ended it as PREEMPTED on n1"},
         {"REVOKED", AttemptOutcome::kLost, "Slurm ended it as REVOKED on n1"},
         {"CANCELLED", AttemptOutcome::kLost, "cancelled in Slurm at the center on n1, not by who submitted it"},
         {"DEADLINE", AttemptOutcome::kWallLimit, ""}}};
    for (const Golden& golden : goldens) {
        SCOPED_TRACE(golden.state);
        const AttemptEnd end = end_in(golden.state, 15);

        EXPECT_EQ(phase_of(golden.state), SlurmPhase::kEnded);
        EXPECT_EQ(end.outcome, golden.outcome);
        EXPECT_EQ(end.detail, golden.detail);
        EXPECT_EQ(end.run_s, 7);
        EXPECT_FALSE(end.exit_code);
    }
    EXPECT_EQ(end_in("OUT_OF_MEMORY", 15).signal, SIGKILL);
    EXPECT_FALSE(end_in("PREEMPTED", 15).signal);
    EXPECT_EQ(end_in("PREEMPTED", 15, EndAsked::kWallLimit).outcome, AttemptOutcome::kWallLimit);
}

TEST(SlurmJobEnd, OfAJobThatWouldWaitForEverIsNotItsSubmittersDoing)
{
    EXPECT_EQ(end_in("CANCELLED", 0, EndAsked::kNeverStarts).outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end_of_forgotten({}, EndAsked::kNeverStarts, {}, kEnd).outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end_in("COMPLETED", 0, EndAsked::kNeverStarts).exit_code, 0) << "it started after all";
}

TEST(SlurmJobEnd, IsNotThatOfACancelledJobWhenItEndedByItself)
{
    EXPECT_EQ(end_in("COMPLETED", 0, EndAsked::kCancelled).outcome, AttemptOutcome::kExited);
}

TEST(SlurmJobEnd, TakesTheScriptsTimesWithinSlurmsSeconds)
{
    const double start = std::chrono::duration<double>(kStart.time_since_epoch()).count();
    const std::string started = std::to_string(start + 0.5);
    const std::string ended = "0 " + std::to_string(start + 6.25) + "\n0m0.001s 0m0.001s\n1m1.500s 0m0.250s\n";

    const AttemptEnd end = end_of(job_in("COMPLETED"), read_notes(started, ended), EndAsked::kNo, kEnd);

    EXPECT_NEAR(end.run_s, 5.75, 1e-5);
    EXPECT_NEAR(end.cpu_s, 61.75, 1e-5);
}

TEST(SlurmJobEnd, DoesNotTakeTimesThatAJobCouldHaveForged)
{
    const double start = std::chrono::duration<double>(kStart.time_since_epoch()).count();

    const ScriptNotes notes = read_notes(std::to_string(start + 5000), "0 " + std::to_string(start + 1) + "\n");

    EXPECT_EQ(end_of(job_in("COMPLETED"), notes, EndAsked::kNo, kEnd).run_s, 7);
}

TEST(SlurmJobEnd, OfAForgottenJobIsTheScripts)
{
    EXPECT_EQ(end_of_forgotten({}, EndAsked::kNo, {}, kEnd).outcome, AttemptOutcome::kLost);
    EXPECT_EQ(end_of_forgotten(read_notes("100.5", "4 101.5\n"), EndAsked::kNo, {}, kEnd).exit_code, 4);
}

TEST(SlurmJobEnd, OfAForgottenJobThatWasAskedToEndIsWhatWasAsked)
{
    const auto end_after = [](const char* ended, EndAsked asked) {
        return end_of_forgotten(read_notes("100.5", ended), asked, {}, kEnd);
    };
    EXPECT_EQ(end_after("143 101.5\n", EndAsked::kCancelled).outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(end_after("137 101.5\n", EndAsked::kWallLimit).outcome, AttemptOutcome::kWallLimit);
    EXPECT_EQ(end_after("143 101.5\n", EndAsked::kNo).signal, SIGTERM);
    EXPECT_EQ(end_after("0 101.5\n", EndAsked::kCancelled).exit_code, 0) << "it had ended by itself";
}

TEST(SlurmJobEnd, OfAForgottenJobIsNotBeforeItWasLastSeenToRun)
{
    const ScriptNotes notes = read_notes("100.5", "0 101.5\n");
    const Timestamp seen = *notes.started_at + std::chrono::seconds(60);

    EXPECT_EQ(end_of_forgotten(notes, EndAsked::kNo, seen, kEnd).run_s, 60);
}

/// The script's notes of a program that ran and ended at these seconds of kStart's job.
ScriptNotes notes_of_run(double from_s, double to_s, int exit_code = 0)
{
    const double start = std::chrono::duration<double>(kStart.time_since_epoch()).count();
    return read_notes(std::to_string(start + from_s),
                      std::to_string(exit_code) + " " + std::to_string(start + to_s) + "\n");
}

TEST(SlurmJobEnd, IsTheProgramsWhereThatHadEndedBeforeSlurmEndedTheJob)
{
    for (const char* state : {"CANCELLED", "NODE_FAIL", "TIMEOUT", "FAILED"}) {
        SCOPED_TRACE(state);
        const AttemptEnd end = end_of(job_in(state, 1 << 8), notes_of_run(0.5, 4, 3), EndAsked::kNo, kEnd);

        EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
        EXPECT_EQ(end.exit_code, 3);
        EXPECT_EQ(end.detail, "");
    }
}

TEST(SlurmJobEnd, IsSlurmsWhereTheProgramEndedForIt)
{
    const ScriptNotes after = notes_of_run(0.5, 7.25, 143);
    EXPECT_EQ(end_of(job_in("CANCELLED"), after, EndAsked::kNo, kEnd).outcome, AttemptOutcome::kLost);
    EXPECT_EQ(end_of(job_in("TIMEOUT"), after, EndAsked::kNo, kEnd).outcome, AttemptOutcome::kWallLimit);

    const ScriptNotes killed = notes_of_run(0.5, 4, 143);
    EXPECT_EQ(end_of(job_in("NODE_FAIL"), killed, EndAsked::kNo, kEnd).outcome, AttemptOutcome::kNodeFailure);

    const ScriptNotes by_a_slow_clock = notes_of_run(0.5, 5.5, 143);
    EXPECT_EQ(end_of(job_in("CANCELLED"), by_a_slow_clock, EndAsked::kCancelled, kEnd).outcome,
              AttemptOutcome::kCancelled);

    const ScriptNotes before = notes_of_run(0.5, 4);
    EXPECT_EQ(end_of(job_in("OUT_OF_MEMORY"), before, EndAsked::kNo, kEnd).outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(end_of(job_in("PREEMPTED"), before, EndAsked::kNo, kEnd).outcome, AttemptOutcome::kPreempted);
}

TEST(SlurmJobEnd, OfAJobThatWasStartedAgainHasTheLongerRun)
{
    const AttemptEnd end = end_of(job_in("CANCELLED"), notes_of_run(-30, -10), EndAsked::kNo, kEnd);
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_NEAR(end.run_s, 20, 1e-5);

    const AttemptEnd claimed = end_of(job_in("CANCELLED"), notes_of_run(-30, -29), EndAsked::kNo, kEnd);
    EXPECT_EQ(claimed.run_s, 7) << "Slurm knows of more";

    const AttemptEnd noted_again = end_of(job_in("COMPLETED"), notes_of_run(-30, -10), EndAsked::kNo, kEnd);
    EXPECT_NEAR(noted_again.run_s, 20, 1e-5) << "the second start only said how the first had ended";

    SlurmJob never_placed = job_in("CANCELLED");
    never_placed.nodes = "";
    never_placed.start.reset();
    const AttemptEnd placed_before = end_of(never_placed, notes_of_run(-30, -10), EndAsked::kNo, kEnd);
    EXPECT_NEAR(placed_before.run_s, 20, 1e-5);
}

TEST(SlurmJobEnd, OfAJobThatWasStartedAgainWithoutAnEndIsLost)
{
    ScriptNotes notes = read_notes("100.5", "");
    notes.is_started_again = true;

    const AttemptEnd end = end_of(job_in("FAILED", 1 << 8), notes, EndAsked::kNo, kEnd);

    EXPECT_EQ(end.outcome, AttemptOutcome::kLost);
    EXPECT_THAT(end.detail, HasSubstr("started it again"));

    SlurmJob ran_long = job_in("FAILED", 1 << 8);
    ran_long.end = kEnd + std::chrono::hours(1);
    EXPECT_EQ(end_of(ran_long, notes, EndAsked::kNo, kEnd).exit_code, 1) << "a job that wants to be lost";
}

TEST(SlurmJobEnd, OfWhichSlurmDoesNotKnowIsTheScripts)
{
    EXPECT_FALSE(end_of_notes(read_notes("100.5", ""), EndAsked::kNo, std::nullopt));
    const ScriptNotes notes = read_notes("100.5", "4 101.5\n");

    const std::optional<AttemptEnd> end = end_of_notes(notes, EndAsked::kNo, std::nullopt);
    const std::optional<AttemptEnd> claimed =
        end_of_notes(notes, EndAsked::kNo, *notes.ended_at + std::chrono::seconds(20));
    const std::optional<AttemptEnd> cancelled =
        end_of_notes(read_notes("100.5", "143 101.5\n"), EndAsked::kCancelled, std::nullopt);

    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 4);
    EXPECT_EQ(end->run_s, 1);
    ASSERT_TRUE(claimed && cancelled);
    EXPECT_EQ(cancelled->outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(claimed->run_s, 21) << "it was seen to run until then";
}

} // namespace
} // namespace fathom::agent
