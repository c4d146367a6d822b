#include "agent/executor/local/local_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::order;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;

TEST_F(LocalExecutorTest, EndsTheWholeTreeAtTheWallLimitAlsoDaemons)
{
    AttemptOrder job = shell_order("trap 'echo asked > asked' TERM; "
                                   "setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' & "
                                   "while :; do sleep 0.1; done");
    const auto has_noted = [&](const char* file) {
        const Result<std::string> noted = read_file(work(job.attempt_id) / file);
        return noted && !noted->empty();
    };
    const auto has_ended = [&] { return executor().look(job.attempt_id).phase == RunPhase::kEnded; };
    // Where the machine is slow, a second is over before the job has begun in earnest.
    for (const int limit_s : {1, 5, 25}) {
        job.attempt_id = AttemptId::make();
        job.wall_limit_s = limit_s;
        start(job);
        wait_until([&] { return (has_noted("daemon.pid") && has_noted("asked")) || has_ended(); }, "the limit");
        if (has_noted("daemon.pid") && has_noted("asked")) break;
    }
    const std::string daemon = wait_for_file(work(job.attempt_id) / "daemon.pid");
    wait_for_file(work(job.attempt_id) / "asked");
    if (!has_ended()) kill_main(job.attempt_id); // its grace time would cost the test 5 s

    const AttemptEnd end = wait_end(job.attempt_id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kWallLimit);
    EXPECT_THAT(end.detail, HasSubstr("wall-time limit"));
    EXPECT_NE(::kill(std::stoi(daemon), 0), 0) << "the daemon lives";
}

TEST_F(LocalExecutorTest, BindsTheJobToItsProcessors)
{
    const std::string last = std::to_string(cpus_.back());

    const AttemptEnd end = run(shell_order("grep Cpus_allowed_list /proc/self/status; nproc"), {cpus_.back()});

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "Cpus_allowed_list:\t" + last + "\n1\n");
}

TEST_F(LocalExecutorTest, HoldsTheJobToItsMemoryWhereControlGroupsWork)
{
    const Json controllers = executor().facts()["cgroup_controllers"];
    if (std::find(controllers.begin(), controllers.end(), "memory") == controllers.end())
        GTEST_SKIP() << "no memory controller here";
    RunOrder job{
        order({"python3", "-c", "x = bytearray(200 << 20); print(len(x))"}), {cpus_.front()}, 1, 64LL << 20U, {}};

    ASSERT_TRUE(executor().start(job));
    const AttemptEnd end = wait_end(job.order.attempt_id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_EQ(end.detail, "out of memory: the limit is 67108864 bytes");
}

/// Of a program that a shell waits for; some kernels kill the shell as well.
TEST_F(LocalExecutorTest, TellsThatTheProgramOfAScriptRanOutOfMemory)
{
    const Json controllers = executor().facts()["cgroup_controllers"];
    if (std::find(controllers.begin(), controllers.end(), "memory") == controllers.end())
        GTEST_SKIP() << "no memory controller here";
    RunOrder job{shell_order("python3 -c 'x = bytearray(200 << 20); print(len(x))'; exit $?"),
                 {cpus_.front()},
                 1,
                 64LL << 20U,
                 {}};

    ASSERT_TRUE(executor().start(job));
    const AttemptEnd end = wait_end(job.order.attempt_id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_FALSE(end.exit_code);
}

TEST_F(LocalExecutorTest, AProgramThatIsKilledWithMemoryLeftDidNotRunOutOfIt)
{
    const AttemptEnd end = run(shell_order("kill -KILL $$"));

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled);
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_EQ(end.detail, "");
}

/// Where they can be had: control groups that may be written, and a file system on a block device.
TEST_F(LocalExecutorTest, HoldsTheJobToItsWritesOrSaysWhyNot)
{
    options_.io.write_bytes_per_s = 2 << 20;
    const Json facts = executor().facts();
    const Json& isolation = facts["isolation"];
    const std::vector<std::string> gaps = executor().isolation_gaps();
    const bool has_gap = std::any_of(gaps.begin(), gaps.end(), [](const std::string& gap) {
        return gap.starts_with("their reads and writes of the disk are not limited: ");
    });
    const bool holds = isolation["limits_io"].get<bool>();
    EXPECT_EQ(has_gap, !holds);
    EXPECT_EQ(isolation.contains("limits_io_missing"), !holds);
    const Json& controllers = facts["cgroup_controllers"];
    EXPECT_EQ(std::find(controllers.begin(), controllers.end(), "io") != controllers.end(), holds);

    // Past the kernel's cache, where every kernel counts. Not every file system can.
    const AttemptEnd end =
        run(shell_order("dd if=/dev/zero of=x bs=1M count=8 oflag=direct 2>/dev/null && echo written"));

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    const bool has_written = output(end.attempt_id, OutputStream::kStdout) == "written\n";
    if (holds && has_written) {
        EXPECT_GT(end.run_s, 2) << "it takes 4 s at that rate";
    }
}

TEST_F(LocalExecutorTest, SaysThatAFileSystemWithoutABlockDeviceTakesNoLimits)
{
    LocalExecutorOptions options = options_;
    options.attempts = "/proc/attempts";
    options.io.reads_per_s = 100;
    const LocalExecutor elsewhere(options);

    const Json isolation = elsewhere.facts()["isolation"];
    EXPECT_FALSE(isolation["limits_io"].get<bool>());
    EXPECT_THAT(isolation["limits_io_missing"].get<std::string>(), HasSubstr("no block device"));
    EXPECT_FALSE(executor().facts()["isolation"].contains("limits_io")) << "nobody asked for it";
}

} // namespace
} // namespace fathom::agent
