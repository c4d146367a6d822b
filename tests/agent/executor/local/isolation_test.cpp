// Jobs that mean harm, or do it: none gets at a neighbour, at the agent, or at the truth about itself.

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
using test::kHostileIds;
using test::LocalExecutorTest;
using test::order;
using test::processes_of;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;
using testing::StartsWith;

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
    EXPECT_GE(user_of(first), kHostileIds.first);
    EXPECT_LE(user_of(first), kHostileIds.last);

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
