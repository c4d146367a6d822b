#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::order;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(LocalExecutorTest, TellsTheExitCodeAndWhatWasWritten)
{
    const AttemptEnd end = run(shell_order("echo out; echo err >&2; exit 3"));

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.signal, std::nullopt);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "out\n");
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStderr), "err\n");
    EXPECT_EQ(end.stdout_bytes, 4);
    ASSERT_TRUE(end.started_at);
    EXPECT_LE(*end.started_at, end.ended_at);
    EXPECT_GT(end.max_resident_bytes, 0);
}

TEST_F(LocalExecutorTest, TellsTheSignal)
{
    const AttemptEnd end = run(shell_order("kill -SEGV $$"));

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled);
    EXPECT_EQ(end.signal, SIGSEGV);
    EXPECT_EQ(end.exit_code, std::nullopt);
}

TEST_F(LocalExecutorTest, TellsWhyAProgramCouldNotStart)
{
    const AttemptEnd missing = run(order({"no-such-program"}));
    EXPECT_EQ(missing.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(missing.detail, StartsWith("cannot start \"no-such-program\""))
        << "older servers look for its beginning";
    EXPECT_THAT(missing.detail, HasSubstr("No such file"));
    EXPECT_FALSE(missing.started_at);
    EXPECT_EQ(missing.cause, AttemptCause::kProgramNotStarted);

    const AttemptEnd forbidden = run(order({"/etc/passwd"}));
    EXPECT_THAT(forbidden.detail, HasSubstr("Permission denied"));
    EXPECT_EQ(forbidden.cause, AttemptCause::kProgramNotStarted);
}

TEST_F(LocalExecutorTest, CountsWallAndProcessorTimeOfAllProcesses)
{
    const AttemptEnd end = run(shell_order("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) & wait; sleep 0.2"));

    EXPECT_GE(end.run_s, 0.2);
    EXPECT_GT(end.cpu_s, 0.01);
    EXPECT_LT(end.cpu_s, end.run_s + 0.1);
}

TEST_F(LocalExecutorTest, KillsWhatAFinishedJobLeavesBehind)
{
    const AttemptOrder job = shell_order("(setsid sleep 1000 & echo $! > left.pid); cp left.pid copy.pid");
    start(job);
    const std::string left = wait_for_file(work(job.attempt_id) / "copy.pid");

    EXPECT_EQ(wait_end(job.attempt_id).exit_code, 0);
    EXPECT_NE(::kill(std::stoi(left), 0), 0) << "it lives";
}

TEST_F(LocalExecutorTest, KeepsOutputUpToTheLimitAndCountsTheRest)
{
    options_.output_limit_bytes = 1000;

    const AttemptEnd end = run(shell_order("head -c 300000 /dev/zero"));

    EXPECT_EQ(end.stdout_bytes, 300000);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), std::string(1000, '\0'));
}

TEST_F(LocalExecutorTest, ReadsOutputWhileTheJobRuns)
{
    const AttemptOrder job = shell_order("echo first; sleep 1000");
    start(job);

    wait_until([&] { return output(job.attempt_id, OutputStream::kStdout) == "first\n"; }, "the first line");

    EXPECT_EQ(executor().look(job.attempt_id).phase, RunPhase::kAlive);
    EXPECT_TRUE(executor().look(job.attempt_id).started_at);
    executor().cancel(job.attempt_id);
    const AttemptEnd end = wait_end(job.attempt_id);
    EXPECT_EQ(end.outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(end.signal, SIGTERM);
}

TEST_F(LocalExecutorTest, LeavesNothingOfARemovedAttempt)
{
    const AttemptEnd end = run(shell_order("mkdir -p a/b; touch a/b/c; chmod 000 a/b a ."));

    wait_until([&] { return executor().remove(end.attempt_id).has_value(); }, "its folder's removal");

    EXPECT_TRUE(executor().known().empty());
    EXPECT_EQ(executor().look(end.attempt_id).phase, RunPhase::kAbsent);
}

} // namespace
} // namespace fathom::agent
