// Jobs that take more than is theirs: of the disk, of processes, of memory.

#include "agent/executor/local/job_limits.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "core/base/file.hpp"
#include "tests/agent/executor/local/hostile_jobs.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::HostileJobs;
using test::order;
using test::processes_of;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(HostileJobs, ThatTakeMoreOfTheDiskThanTheirShareAreEnded)
{
    options_.disk_bytes_per_processor = 8 << 20;
    const AttemptOrder neighbour = start_neighbour();
    const std::string three_files = "for i in 1 2 3; do head -c 3M /dev/zero >$i; done; ";
    const std::map<std::string, std::string> jobs{
        {"in many files", three_files + "sleep 60"},
        {"in temporary folders", "cd /tmp; " + three_files + "sleep 60"},
        {"deleted, and still open",
         "exec 3>a 4>b 5>c; rm a b c; for i in 3 4 5; do head -c 3M /dev/zero >&$i; done; sleep 60"}};
    for (const auto& [how, line] : jobs) {
        const AttemptEnd end = run(shell_order(line));
        EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled) << how;
        EXPECT_THAT(end.detail, HasSubstr("more of the disk than its share of 8388608 bytes")) << how;
        EXPECT_LT(end.run_s, 40) << how;
    }
    EXPECT_THAT(run(shell_order("exec head -c 9M /dev/zero >one")).detail,
                HasSubstr("a file would have become larger"));
    // Names of one file are one file.
    const AttemptEnd linked = run(shell_order("head -c 3M /dev/zero >a; ln a b; ln a c; ln a d; sleep 2.5; echo well"));
    EXPECT_EQ(text_of(linked), "well\n") << linked.detail;
    expect_unharmed(neighbour);
}

TEST_F(HostileJobs, ThatMakeMoreFilesThanTheirShareAreEnded)
{
    options_.disk_files_per_processor = 100;
    const AttemptOrder neighbour = start_neighbour();

    const AttemptEnd many = run(shell_order("i=0; while [ $i -lt 200 ]; do : >$i; i=$((i + 1)); done; sleep 60"));
    EXPECT_EQ(many.outcome, AttemptOutcome::kSignalled);
    EXPECT_EQ(many.detail, "it made more files than its share of 100 (disk_files_per_processor)");
    EXPECT_LT(many.run_s, 40);
    const AttemptEnd few = run(shell_order("for i in 1 2 3; do : >$i; done; sleep 2.5; echo well"));
    EXPECT_EQ(text_of(few), "well\n") << few.detail;
    expect_unharmed(neighbour);
}

TEST_F(HostileJobs, MayNotMakeMoreProcessesThanTheirShare)
{
    const AttemptOrder neighbour = start_neighbour();
    // Bounded by itself as well: no test is to take the machine down.
    const AttemptOrder bomb = order({"python3", "-c",
                                     "import os, time\n"
                                     "made = 0\n"
                                     "try:\n"
                                     "    while made < 2000:\n"
                                     "        if os.fork() == 0: time.sleep(1000)\n"
                                     "        made += 1\n"
                                     "except OSError as e: print(e.errno)\n"
                                     "print(made)\n"});

    const AttemptEnd end = run(bomb);

    int error = 0;
    int made = 0;
    std::istringstream(text_of(end)) >> error >> made;
    EXPECT_EQ(error, EAGAIN);
    EXPECT_GT(made, 100);
    EXPECT_LT(made, most_processes(1));
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(processes_of(user_of(bomb)), 0U);
    expect_unharmed(neighbour);
}

TEST_F(HostileJobs, LeaveNoProcessHoweverFastTheyFork)
{
    const AttemptOrder job = order({"python3", "-c",
                                    "import os\n"
                                    "if os.fork() == 0:\n"
                                    "    os.setsid()\n"
                                    "    for i in range(10**7):\n"
                                    "        if os.fork() != 0: os._exit(0)\n"});

    EXPECT_EQ(run(job).exit_code, 0);

    EXPECT_EQ(processes_of(user_of(job)), 0U);
}

TEST_F(HostileJobs, DieOfTheirOwnMemoryOnly)
{
    const Json controllers = executor().facts()["cgroup_controllers"];
    const AttemptOrder neighbour = start_neighbour();
    const RunOrder bomb{
        order({"python3", "-c", "x = bytearray(200 << 20); print(len(x))"}), {cpus_.front()}, 1, 64LL << 20U, {}};

    ASSERT_TRUE(executor().start(bomb));
    const AttemptEnd end = wait_end(bomb.order.attempt_id);

    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
        EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
        EXPECT_EQ(end.signal, SIGKILL);
        EXPECT_THAT(end.detail, StartsWith("out of memory"));
    }
    expect_unharmed(neighbour);
}

TEST_F(HostileJobs, LeaveNeitherTheirLimitsNorTheirEndToTheNextOfTheirSupervisor)
{
    const std::string take = "x = bytearray(100 << 20); print(len(x))";
    for (const std::int64_t memory_bytes : {256LL << 20U, 0LL}) {
        const auto [small, next] =
            serve_two(order_of({"python3", "-c", take}, 64LL << 20U), order_of({"python3", "-c", take}, memory_bytes));
        const AttemptEnd large = wait_end(next.attempt_id);
        EXPECT_EQ(small.signal, SIGKILL);
        EXPECT_EQ(large.exit_code, 0) << large.detail;
        EXPECT_EQ(large.detail, "");
    }
}

TEST_F(HostileJobs, ThatFillTheDiskStillEndTruly)
{
    const std::filesystem::path disk = folder_.path() / "disk";
    std::filesystem::create_directory(disk);
    const test::SmallDisk mounted(disk, "4m");
    options_.attempts = disk / "attempts";
    const AttemptOrder neighbour = start_neighbour();

    const AttemptEnd end =
        run(shell_order("cat /dev/zero > x 2>/dev/null; cat /dev/zero > /tmp/x 2>/dev/null; exit 7"));

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, 7);
    executor().cancel(neighbour.attempt_id);
    EXPECT_EQ(wait_end(neighbour.attempt_id).exit_code, 0);
    for (const AttemptId& id : executor().known()) {
        wait_until([&] { return executor().remove(id).has_value(); }, "its folder's removal");
    }
}

TEST_F(HostileJobs, AreHeldToLimitsWithoutControlGroupsToo)
{
    const std::string limit = std::to_string(most_processes(1));

    EXPECT_EQ(
        text_of_python("import resource as r\n"
                       "print(*r.getrlimit(r.RLIMIT_NPROC), *r.getrlimit(r.RLIMIT_CORE),\n"
                       "      r.getrlimit(r.RLIMIT_NOFILE)[1] <= 65536, open('/proc/self/oom_score_adj').read())\n"),
        limit + " " + limit + " 0 0 True 500\n\n");
}

} // namespace
} // namespace fathom::agent
