#include "agent/executor/local/local_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
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
    EXPECT_THAT(missing.detail, HasSubstr("no-such-program"));
    EXPECT_THAT(missing.detail, HasSubstr("No such file"));
    EXPECT_FALSE(missing.started_at);

    EXPECT_THAT(run(order({"/etc/passwd"})).detail, HasSubstr("Permission denied"));
}

TEST_F(LocalExecutorTest, StagesInputsBeforeTheCommandStarts)
{
    std::filesystem::create_directory(folder_.path() / "shared");
    write_file(folder_.path() / "shared" / "a", "content").value();
    options_.staging.folders = {folder_.path() / "shared"};
    AttemptOrder job = shell_order("cat in/a");
    job.inputs = {{"file://" + (folder_.path() / "shared" / "a").string(), "in/a", "", 7}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
}

/// A stand-in for fathom-profile, which leaves how it was called as the profile.
constexpr const char* kProfiler = R"(#!/bin/sh
called=$*
while [ "$1" != -- ]; do shift; done
shift
printf '{"called": "%s"}' "$called" >.fathom-profile.json
exec "$@"
)";

TEST_F(LocalExecutorTest, ProfilesWithTheLibraryThatComesWithTheOrder)
{
    options_.programs = folder_.path() / "programs";
    std::filesystem::create_directory(options_.programs);
    write_file(options_.programs / "fathom-profile", kProfiler, 0755).value();
    RunOrder own = order_of({"true"});
    own.order.profile = true;
    RunOrder given = order_of({"cat", kLibraryName});
    given.order.profile = true;
    given.library = R"([{"id": "dgemm"}])";

    ASSERT_TRUE(executor().start(own));
    ASSERT_TRUE(executor().start(given));
    const AttemptEnd with_own = wait_end(own.order.attempt_id);
    const AttemptEnd with_given = wait_end(given.order.attempt_id);

    EXPECT_EQ(with_own.profile, (Json{{"called", "--output json --output-file .fathom-profile.json -- true"}}))
        << with_own.detail;
    EXPECT_EQ(with_given.profile, (Json{{"called", "--output json --output-file .fathom-profile.json --library "
                                                   ".fathom-library.json -- cat .fathom-library.json"}}))
        << with_given.detail;
    EXPECT_EQ(output(given.order.attempt_id, OutputStream::kStdout), given.library);
    EXPECT_FALSE(std::filesystem::exists(work(own.order.attempt_id) / kLibraryName));
    struct stat facts{};
    ASSERT_EQ(::stat((work(given.order.attempt_id) / kLibraryName).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0444U);
    EXPECT_EQ(facts.st_uid, ::getuid()) << "not the job's";
}

TEST_F(LocalExecutorTest, TellsStagingThatFailedFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo ran; exit 1");
    job.inputs = {{"http://127.0.0.1:1/x?signature=geheim", "x", "", std::nullopt}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_THAT(end.detail, StartsWith("staging failed: http://127.0.0.1:1/x: "));
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "");
}

TEST_F(LocalExecutorTest, StoresOutputsOnceTheCommandHasSucceeded)
{
    std::filesystem::create_directory(folder_.path() / "results");
    options_.staging.output_folders = {folder_.path() / "results"};
    const std::filesystem::path result = folder_.path() / "results" / "sum";
    AttemptOrder job = shell_order("mkdir out; printf 42 > out/sum");
    job.outputs = {{"out/sum", "file://" + result.string()}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(read_file(result).value(), "42");
    ASSERT_EQ(end.outputs.size(), 1U);
    EXPECT_EQ(end.outputs[0].path, "out/sum");
    EXPECT_EQ(end.outputs[0].size_bytes, 2);

    job = shell_order("mkdir out; printf 43 > out/sum; exit 3");
    job.outputs = {{"out/sum", "file://" + result.string()}};
    EXPECT_EQ(run(job).exit_code, 3);
    EXPECT_EQ(read_file(result).value(), "42") << "a command that fails has no outputs";
}

TEST_F(LocalExecutorTest, TellsOutputsThatCouldNotBeStoredFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo done");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum?signature=geheim"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_THAT(end.detail,
                StartsWith("outputs could not be stored: sum to https://127.0.0.1:1/sum: it cannot be opened"));
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "done\n");
    EXPECT_TRUE(end.outputs.empty());
}

TEST_F(LocalExecutorTest, AJobWithOutputsEndsByTheSignalThatItsCommandEndedBy)
{
    AttemptOrder job = shell_order("kill -SEGV $$");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled) << end.detail;
    EXPECT_EQ(end.signal, SIGSEGV);
}

TEST_F(LocalExecutorTest, TellsWhatHasChangedWithoutBeingAsked)
{
    ExecutorChanges seen;
    const auto tells = [&](auto&& condition) {
        ExecutorChanges news = executor().changes();
        seen.moved.merge(news.moved);
        seen.written.merge(news.written);
        return condition();
    };
    const AttemptOrder job = shell_order("while [ ! -e go ]; do sleep 0.01; done; echo out");
    start(job);
    const AttemptId& id = job.attempt_id;
    wait_until([&] { return tells([&] { return executor().look(id).started_at.has_value(); }); }, "its start");
    EXPECT_TRUE(seen.moved.contains(id));
    EXPECT_FALSE(seen.written.contains(id));
    seen = {};

    write_file(work(id) / "go", "").value();
    wait_until([&] { return tells([&] { return seen.written.contains(id); }); }, "its output");
    // The news may come after a look has shown it.
    wait_until([&] { return tells([&] { return seen.moved.contains(id); }); }, "news");
    wait_until([&] { return executor().look(id).phase == RunPhase::kEnded; }, "its end");
}

TEST_F(LocalExecutorTest, LookingAtAJobIsNoNewsOfIt)
{
    const AttemptOrder job = shell_order("sleep 60");
    start(job);
    wait_until([&] { return executor().look(job.attempt_id).started_at.has_value(); }, "its start");
    static_cast<void>(executor().changes());

    EXPECT_EQ(executor().look(job.attempt_id).phase, RunPhase::kAlive);

    const ExecutorChanges news = executor().changes();
    EXPECT_TRUE(news.moved.empty() && news.written.empty() && !news.some_missed);
    executor().cancel(job.attempt_id);
}

TEST_F(LocalExecutorTest, TellsThatASupervisorHasDied)
{
    const AttemptOrder job = shell_order("sleep 1000");
    start(job);
    wait_until([&] { return executor().look(job.attempt_id).started_at.has_value(); }, "its start");
    static_cast<void>(executor().changes());

    ::kill(supervisor_of(job.attempt_id), SIGKILL);

    wait_until([&] { return executor().changes().moved.contains(job.attempt_id); }, "the news");
    EXPECT_EQ(executor().look(job.attempt_id).phase, RunPhase::kVanished);
}

TEST_F(LocalExecutorTest, StartsJobsBySupervisorsThatStoodReady)
{
    executor().prepare();

    EXPECT_EQ(run(shell_order("exit 3")).exit_code, 3);
    EXPECT_EQ(run(shell_order("exit 4")).exit_code, 4);
    EXPECT_EQ(run(shell_order("exit 5")).exit_code, 5);
}

TEST_F(LocalExecutorTest, CountsEachOfASupervisorsAttemptsAlone)
{
    const auto [large, second] =
        serve_two(order_of({"python3", "-c", "x = bytearray(200 << 20); sum(range(10000000))"}), order_of({"true"}));

    const AttemptEnd small = wait_end(second.attempt_id);

    EXPECT_GT(large.max_resident_bytes, 200LL << 20U);
    EXPECT_LT(small.max_resident_bytes, 100LL << 20U);
    EXPECT_LT(small.cpu_s, large.cpu_s / 2);
}

TEST_F(LocalExecutorTest, LosesWithASupervisorOnlyTheAttemptThatItServes)
{
    const auto served = serve_two(order_of({"sh", "-c", "exit 3"}), order_of({"sleep", "1000"}));
    const AttemptEnd& first = served.first;
    const AttemptOrder& second = served.second;
    const int supervisor = supervisor_of(second.attempt_id);
    wait_until([&] { return executor().look(second.attempt_id).started_at.has_value(); }, "its start");

    ::kill(supervisor, SIGKILL);

    wait_until([&] { return executor().look(second.attempt_id).phase == RunPhase::kVanished; }, "its loss");
    EXPECT_EQ(executor().look(first.attempt_id).end->exit_code, 3);
}

TEST_F(LocalExecutorTest, StartsProcessesThatAreNotOlderThanTheirJobs)
{
    executor().prepare();
    ::sleep(2);

    // Since boot, in hundredths of a second: field 22 of its own line, and now.
    const AttemptEnd end = run(shell_order("awk '{print $22}' /proc/self/stat; awk '{print $1 * 100}' /proc/uptime"));

    std::istringstream times(output(end.attempt_id, OutputStream::kStdout));
    double started = 0;
    double now = 0;
    ASSERT_TRUE(times >> started >> now);
    EXPECT_LT(now - started, 100.0);
}

TEST_F(LocalExecutorTest, CountsWallAndProcessorTimeOfAllProcesses)
{
    const AttemptEnd end = run(shell_order("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) & wait; sleep 0.2"));

    EXPECT_GE(end.run_s, 0.2);
    EXPECT_GT(end.cpu_s, 0.01);
    EXPECT_LT(end.cpu_s, end.run_s + 0.1);
}

TEST_F(LocalExecutorTest, EndsTheWholeTreeAtTheWallLimitAlsoDaemons)
{
    AttemptOrder job = shell_order("setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' & "
                                   "trap 'echo asked > asked' TERM; while :; do sleep 0.1; done");
    job.wall_limit_s = 1;
    start(job);
    const std::string daemon = wait_for_file(work(job.attempt_id) / "daemon.pid");
    wait_for_file(work(job.attempt_id) / "asked");
    kill_main(job.attempt_id); // its grace time would cost the test 5 s

    const AttemptEnd end = wait_end(job.attempt_id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kWallLimit);
    EXPECT_THAT(end.detail, HasSubstr("wall-time limit"));
    EXPECT_NE(::kill(std::stoi(daemon), 0), 0) << "the daemon lives";
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

TEST_F(LocalExecutorTest, NeverRunsWhatWasCancelledBeforeItsSupervisorCame)
{
    const AttemptOrder job = shell_order("touch ran");
    std::filesystem::create_directories(options_.attempts / job.attempt_id.value);
    executor().cancel(job.attempt_id);

    start(job);

    EXPECT_EQ(wait_end(job.attempt_id).outcome, AttemptOutcome::kCancelled);
    EXPECT_FALSE(std::filesystem::exists(work(job.attempt_id) / "ran"));
}

TEST_F(LocalExecutorTest, RunsAScriptByItsFirstLineOrByTheShell)
{
    AttemptOrder with_line = order({});
    with_line.script = "#!/bin/cat\nhello\n";
    AttemptOrder without = order({});
    without.script = "echo $((6 * 7))\n";

    EXPECT_EQ(output(run(with_line).attempt_id, OutputStream::kStdout), with_line.script);
    EXPECT_EQ(output(run(without).attempt_id, OutputStream::kStdout), "42\n");
}

TEST_F(LocalExecutorTest, GivesTheJobItsFilesFolderAndVariables)
{
    AttemptOrder job = shell_order("cat input.txt; umask; test \"$HOME\" = \"$PWD\" && test -w . && echo home; "
                                   "ulimit -c; grep NoNewPrivs /proc/self/status; ls /proc/self/fd | wc -l; echo $X");
    job.files["input.txt"] = "data\n";
    job.environment["X"] = "from the user";

    const std::string text = output(run(job).attempt_id, OutputStream::kStdout);

    EXPECT_EQ(text, "data\n0077\nhome\n0\nNoNewPrivs:\t1\n4\nfrom the user\n");
}

TEST_F(LocalExecutorTest, BindsTheJobToItsProcessors)
{
    const std::string last = std::to_string(cpus_.back());

    const AttemptEnd end = run(shell_order("grep Cpus_allowed_list /proc/self/status; nproc"), {cpus_.back()});

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "Cpus_allowed_list:\t" + last + "\n1\n");
}

TEST_F(LocalExecutorTest, DropsRootAndHidesOtherJobs)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    options_.user = find_job_user("nobody").value();
    const AttemptOrder other = shell_order("echo secret > s; sleep 1000");
    start(other);
    wait_for_file(work(other.attempt_id) / "s");

    const AttemptEnd end = run(shell_order("id -u; id -G; cat " + (work(other.attempt_id) / "s").string() +
                                           " || echo hidden; touch mine && echo writable"));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "65534\n65534\nhidden\nwritable\n");
    struct stat facts{};
    ASSERT_EQ(::stat(work(end.attempt_id).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U);
    executor().cancel(other.attempt_id);
    wait_end(other.attempt_id);
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

TEST_F(LocalExecutorTest, NeverStartsAnAttemptTwice)
{
    const AttemptOrder job = shell_order("echo ran >> count; sleep 0.3");
    for (int i = 0; i < 4; ++i)
        start(job);
    wait_end(job.attempt_id);
    start(job); // also not after its end
    ::usleep(300'000);

    EXPECT_EQ(read_file(work(job.attempt_id) / "count").value(), "ran\n");
}

TEST_F(LocalExecutorTest, KillsTheJobWithItsSupervisorAndSaysThatItVanished)
{
    const AttemptOrder job = shell_order("echo $$ > pid; cp pid ready; exec sleep 1000");
    start(job);
    const int pid = std::stoi(wait_for_file(work(job.attempt_id) / "ready"));
    // The job may be quicker than its supervisor's note.
    wait_until([&] { return executor().look(job.attempt_id).started_at.has_value(); }, "the note of its start");

    ::kill(supervisor_of(job.attempt_id), SIGKILL);

    wait_until([&] { return executor().look(job.attempt_id).phase == RunPhase::kVanished; }, "the loss");
    wait_until([&] { return ::kill(pid, 0) != 0; }, "the job's death");
    EXPECT_TRUE(executor().look(job.attempt_id).started_at);
}

TEST_F(LocalExecutorTest, EndsLeftoversOfALostAttempt)
{
    const AttemptOrder job = shell_order("setsid sleep 1000 & echo $! > left; cp left ready; sleep 1000");
    start(job);
    const int left = std::stoi(wait_for_file(work(job.attempt_id) / "ready"));
    ::kill(supervisor_of(job.attempt_id), SIGKILL);
    wait_until([&] { return executor().look(job.attempt_id).phase == RunPhase::kVanished; }, "the loss");

    executor().end_leftovers(job.attempt_id);

    wait_until([&] { return ::kill(left, 0) != 0; }, "the leftover's death");
}

TEST_F(LocalExecutorTest, GoesOnWhenTheProcessThatStartedItIsKilled)
{
    const AttemptOrder job = shell_order("sleep 0.5; echo done");
    const pid_t agent = ::fork();
    if (agent == 0) {
        static_cast<void>(executor().start({job, {cpus_.front()}, 1, 0, {}}));
        ::kill(::getpid(), SIGKILL);
    }
    reap(agent);

    EXPECT_EQ(wait_end(job.attempt_id).exit_code, 0);
    EXPECT_EQ(output(job.attempt_id, OutputStream::kStdout), "done\n");
}

TEST_F(LocalExecutorTest, LeavesNothingOfARemovedAttempt)
{
    const AttemptEnd end = run(shell_order("mkdir -p a/b; touch a/b/c; chmod 000 a/b a ."));

    const Result<void> removed = executor().remove(end.attempt_id);

    EXPECT_TRUE(removed) << removed.error().detail;

    EXPECT_TRUE(executor().known().empty());
    EXPECT_EQ(executor().look(end.attempt_id).phase, RunPhase::kAbsent);
}

TEST(JobUser, MustExist)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    EXPECT_FALSE(find_job_user("no-such-user"));
    EXPECT_FALSE(find_job_user("root").value().has_value());
    EXPECT_TRUE(find_job_user("").value().has_value());
}

} // namespace
} // namespace fathom::agent
