// Jobs that mean harm, or do it: none gets at a neighbour, at the agent, or at the truth about itself.

#include "agent/executor/local/job_limits.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::order;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;
using testing::StartsWith;

constexpr UserIds kIds{200000, 265535};

/// Processes of this user on the host.
std::size_t processes_of(unsigned uid)
{
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        struct stat facts{};
        const bool is_process = entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
        if (is_process && ::stat(entry.path().c_str(), &facts) == 0 && facts.st_uid == uid) ++count;
    }
    return count;
}

/// As a root agent runs jobs by default: each as a user of its own, in namespaces of its own.
class HostileJobs : public LocalExecutorTest {
  protected:
    void SetUp() override
    {
        if (::getuid() != 0) GTEST_SKIP() << "needs root";
        options_.user_ids = kIds;
    }

    std::string text_of(const AttemptEnd& end) { return output(end.attempt_id, OutputStream::kStdout); }
    std::string text_of(const std::string& line) { return text_of(run(shell_order(line))); }
    std::string text_of_python(const std::string& program) { return text_of(run(order({"python3", "-c", program}))); }

    /// A job that sleeps until it is told to end, and then ends well.
    AttemptOrder start_neighbour()
    {
        const AttemptOrder job =
            shell_order("umask 0; trap 'echo well; exit 0' TERM; echo secret > s; while :; do sleep 0.05; done");
        start(job);
        wait_for_file(work(job.attempt_id) / "s");
        return job;
    }

    void expect_unharmed(const AttemptOrder& neighbour)
    {
        EXPECT_EQ(executor().look(neighbour.attempt_id).phase, RunPhase::kAlive);
        executor().cancel(neighbour.attempt_id);
        const AttemptEnd end = wait_end(neighbour.attempt_id);
        EXPECT_EQ(end.outcome, AttemptOutcome::kCancelled);
        EXPECT_EQ(end.exit_code, 0);
        EXPECT_EQ(text_of(end), "well\n");
    }

    unsigned user_of(const AttemptOrder& job) const
    {
        struct stat facts{};
        EXPECT_EQ(::stat(work(job.attempt_id).c_str(), &facts), 0);
        return facts.st_uid;
    }
};

TEST_F(HostileJobs, AreAllSeparatedHere)
{
    const Json facts = executor().facts()["isolation"];

    EXPECT_EQ(facts.dump(),
              R"({"filters_system_calls":true,"hides_agent_files":true,"ipc_namespace":true,"mount_namespace":true,)"
              R"("pid_namespace":true,"uid_per_job":true})");
}

TEST_F(HostileJobs, EachHaveAUserThatNoOtherLivingOneHas)
{
    const AttemptOrder first = start_neighbour();
    const AttemptOrder second = start_neighbour();
    EXPECT_NE(user_of(first), user_of(second));
    EXPECT_GE(user_of(first), kIds.first);
    EXPECT_LE(user_of(first), kIds.last);

    // An agent that starts again, and has no choice but between them and one more.
    options_.user_ids =
        UserIds{std::min(user_of(first), user_of(second)), std::max(user_of(first), user_of(second)) + 1};
    LocalExecutor later(options_);
    std::set<unsigned> given;
    for (unsigned i = options_.user_ids->first; i <= options_.user_ids->last && given.size() < 3; ++i) {
        const AttemptOrder job = shell_order("id -u; id -G");
        if (!later.start({job, {cpus_.front()}, 1, 0, {}})) break;
        const AttemptEnd end = wait_end(job.attempt_id);
        given.insert(user_of(job));
        EXPECT_EQ(text_of(end), std::to_string(user_of(job)) + "\n" + std::to_string(user_of(job)) + "\n");
    }
    EXPECT_FALSE(given.empty());
    EXPECT_FALSE(given.contains(user_of(first)) || given.contains(user_of(second)));
    expect_unharmed(first);
    expect_unharmed(second);
}

TEST_F(HostileJobs, FindNoUserWhenAllAreTaken)
{
    options_.user_ids = UserIds{200017, 200017};
    const AttemptEnd first = run(shell_order("id -u"));
    const AttemptOrder second = shell_order("id -u");

    EXPECT_THAT(executor().start({second, {cpus_.front()}, 1, 0, {}}).error().detail, HasSubstr("run_as_uids"));
    wait_until([&] { return executor().remove(first.attempt_id).has_value(); }, "its folder's removal");
    EXPECT_EQ(text_of(run(second)), "200017\n");
}

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

TEST_F(HostileJobs, SeeNoProcessesOfOthers)
{
    const AttemptOrder neighbour = start_neighbour();

    const std::string text = text_of(
        "cat /proc/[0-9]*/cwd/s /proc/[0-9]*/root/run/fathom-job/work/s 2>/dev/null | grep -q secret && echo seen; "
        "kill -0 " +
        std::to_string(supervisor_of(neighbour.attempt_id)) +
        " 2>/dev/null && echo killable; "
        "cat " +
        (work(neighbour.attempt_id) / "s").string() +
        " 2>/dev/null; "
        "set -- /proc/[0-9]*; echo $#; cat /proc/1/comm; ls /proc/1/root/ /proc/1/fd/ 2>/dev/null; echo $$");

    // The first process and the shell.
    EXPECT_EQ(text, "2\nfathom-init\n2\n");
    expect_unharmed(neighbour);
}

TEST_F(HostileJobs, CannotOpenDeviceFilesOfOthers)
{
    RunOrder run{
        shell_order("head -c1 /dev/full; echo $?; head -c1 /dev/zero | wc -c; echo x >/dev/full; ls -l /dev/full"),
        {cpus_.front()},
        1,
        0,
        {}};
    run.hidden_files = {"/dev/full", "/dev/none-of-these"};

    ASSERT_TRUE(executor().start(run));
    const AttemptEnd end = wait_end(run.order.attempt_id);

    EXPECT_THAT(text_of(end), StartsWith("1\n1\n----------")) << end.detail;
    EXPECT_THAT(output(end.attempt_id, OutputStream::kStderr), HasSubstr("Permission denied"));
    struct stat facts{};
    ASSERT_EQ(::stat("/dev/full", &facts), 0);
    EXPECT_TRUE(S_ISCHR(facts.st_mode)) << "only in the job's view";
}

TEST_F(HostileJobs, KillAllAndHitNobodyElse)
{
    const AttemptOrder neighbour = start_neighbour();

    const AttemptEnd end =
        run(shell_order("kill -9 -1; kill -STOP -1; kill -9 1 2>/dev/null; echo still here; exit 4"));

    EXPECT_EQ(end.exit_code, 4);
    EXPECT_EQ(text_of(end), "still here\n");
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

TEST_F(HostileJobs, LeaveNoFilesWhateverTheyMake)
{
    options_.remove_work = true;
    const AttemptOrder job = order({"python3", "-c",
                                    "import os\n"
                                    "for i in range(5000): open(f'file{i}', 'w').close()\n"
                                    "for i in range(2000):\n"
                                    "    os.mkdir('deep')\n"
                                    "    os.chdir('deep')\n"
                                    "os.chmod('.', 0)\n"});

    EXPECT_EQ(run(job).exit_code, 0);

    wait_until([&] { return !std::filesystem::exists(work(job.attempt_id)); }, "the files' removal");
    wait_until([&] { return executor().remove(job.attempt_id).has_value(); }, "the folder's removal");
    EXPECT_TRUE(executor().known().empty());
}

TEST_F(HostileJobs, GainNoRights)
{
    // A shell of root's that anybody may become root by, were it not for no_new_privs.
    const std::filesystem::path shell = folder_.path() / "shell";
    std::filesystem::copy_file("/bin/dash", shell);
    ::chmod(shell.c_str(), 04755);
    ::chmod(folder_.path().c_str(), 0755);
    options_.shared = {folder_.path()};

    EXPECT_EQ(text_of(shell.string() + " -p -c 'id -ru; id -u' | sort -u | grep -x 0; " +
                      "head -c 1 /etc/shadow 2>/dev/null; mkdir /run/mine 2>/dev/null && echo made; "
                      "mount -t tmpfs x /mnt 2>/dev/null && echo mounted; echo done"),
              "done\n");
    EXPECT_EQ(
        text_of_python("import os\n"
                       "for act in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]),\n"
                       "            lambda: os.kill(1, 0), lambda: open('/proc/1/mem'),\n"
                       "            lambda: os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000'),\n"
                       "            lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)):\n"
                       "    try: act(); print('could')\n"
                       "    except OSError: pass\n"),
        "");
}

TEST_F(HostileJobs, LeaveNothingForTheNextOne)
{
    const std::string leave =
        "for f in /tmp /var/tmp /dev/shm; do echo x > $f/fathom-left || exit 1; done; ipcmk -M 4096 >/dev/null "
        "&& ipcs -m | grep -c 0x";
    EXPECT_EQ(text_of(leave), "1\n");

    EXPECT_EQ(text_of("ls -A /tmp /var/tmp /dev/shm; ipcs -m | grep -c 0x"), "/dev/shm:\n\n/tmp:\n\n/var/tmp:\n0\n");
    EXPECT_FALSE(std::filesystem::exists("/tmp/fathom-left"));
    EXPECT_FALSE(std::filesystem::exists("/dev/shm/fathom-left"));
}

TEST_F(HostileJobs, CannotLieAboutTheirEnd)
{
    options_.programs = folder_.path(); // no profiler there
    AttemptOrder job = shell_order(
        "for d in .. /run/fathom-job; do for f in status.json running.json cancel started order.json stdout; "
        "do echo '{}' > $d/$f; done; done 2>/dev/null; rm -rf ../work 2>/dev/null; "
        "ln -s /etc/shadow .fathom-profile.json; exit 5");
    job.profile = true;

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, 5);
    EXPECT_THAT(end.detail, HasSubstr("no profile"));
    EXPECT_TRUE(end.profile.is_null());
    EXPECT_EQ(text_of(end), "");
}

TEST_F(HostileJobs, ReachTheirOutputByItsNames)
{
    const AttemptEnd end = run(shell_order("echo out > /dev/stdout; echo err > /dev/stderr"));

    EXPECT_EQ(text_of(end), "out\n");
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStderr), "err\n");
}

TEST_F(HostileJobs, AreCountedWithAllThatTheyLeaveRunning)
{
    // It says when it has had a quarter of a second of a processor, by its own counters, in hundredths.
    const AttemptEnd end = run(shell_order("(setsid sh -c 'while read -r line < /proc/$$/stat; set -- $line; "
                                           "[ $((${14} + ${15})) -lt 25 ]; do :; done; echo x > ready; "
                                           "while :; do :; done' &); while ! [ -e ready ]; do sleep 0.1; done"));

    EXPECT_GT(end.cpu_s, 0.2);
}

TEST_F(HostileJobs, DieWithTheirSupervisor)
{
    const AttemptOrder job = shell_order("setsid sleep 1000 & echo x > ready; sleep 1000");
    start(job);
    wait_for_file(work(job.attempt_id) / "ready");

    ::kill(supervisor_of(job.attempt_id), SIGKILL);

    wait_until([&] { return processes_of(user_of(job)) == 0; }, "the job's death");
}

TEST_F(HostileJobs, DoNotRunWhereTheirViewFailsHalfWay)
{
    const std::filesystem::path shared = "/tmp/fathom-half-way-" + std::to_string(::getpid());
    std::filesystem::create_directory(shared);
    options_.shared = {shared};
    const AttemptOrder job = shell_order("echo ran");
    // A file stands where the folder is to be shown again.
    const std::filesystem::path tmp = options_.attempts / job.attempt_id.value / "tmp";
    std::filesystem::create_directories(tmp);
    write_file(tmp / shared.filename(), "").value();

    const AttemptEnd end = run(job);

    std::filesystem::remove(shared);
    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(end.detail,
                HasSubstr("cannot be separated from other jobs: cannot show a folder at " + shared.string()));
    EXPECT_EQ(end.cause, AttemptCause::kNone) << "it is the center's failure";
    EXPECT_FALSE(end.started_at);
    EXPECT_EQ(text_of(end), "");
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

/// Also without root: what the agent keeps is nothing that its jobs need to see.
TEST_F(LocalExecutorTest, HidesTheAgentsFilesFromJobsOfItsOwnUserWhereItCan)
{
    write_file(folder_.path() / "agent-key.pem", "key", 0600).value();
    options_.hidden = folder_.path();

    const AttemptEnd end = run(shell_order("cat " + (folder_.path() / "agent-key.pem").string() +
                                           " 2>/dev/null && echo leaked; ls .. ; echo x > own; cat own; pwd; id -u"));

    ASSERT_EQ(end.exit_code, 0) << end.detail;
    const std::string text = output(end.attempt_id, OutputStream::kStdout);
    const bool hides = executor().facts()["isolation"]["hides_agent_files"].get<bool>();
    EXPECT_EQ(text.find("leaked") == std::string::npos, hides) << text;
    EXPECT_EQ(executor().shows_agent_files(), !hides);
    if (hides) {
        EXPECT_EQ(text, "work\nx\n" + work(end.attempt_id).string() + "\n" + std::to_string(::getuid()) + "\n");
    }
}

} // namespace
} // namespace fathom::agent
