#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::shell_order;
using test::wait_until;

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
    // The news may come after a look has shown it.
    wait_until([&] { return tells([&] { return seen.moved.contains(id); }); }, "news of its start");
    EXPECT_FALSE(seen.written.contains(id));
    seen = {};

    write_file(work(id) / "go", "").value();
    wait_until([&] { return tells([&] { return seen.written.contains(id); }); }, "its output");
    wait_until([&] { return tells([&] { return seen.moved.contains(id); }); }, "news of its end");
    wait_until([&] { return executor().look(id).phase == RunPhase::kEnded; }, "its end");
}

TEST_F(LocalExecutorTest, LookingAtAJobIsNoNewsOfIt)
{
    const AttemptOrder job = shell_order("sleep 1000");
    start(job);
    wait_until([&] { return executor().look(job.attempt_id).started_at.has_value(); }, "its start");

    // The news of its start may come after a look has shown it; if looks were news, they would come each time.
    const auto is_no_news = [&] {
        static_cast<void>(executor().changes());
        EXPECT_EQ(executor().look(job.attempt_id).phase, RunPhase::kAlive);
        const ExecutorChanges news = executor().changes();
        return news.moved.empty() && news.written.empty() && !news.some_missed;
    };
    wait_until(is_no_news, "a look without news");
    executor().cancel(job.attempt_id);
}

TEST_F(LocalExecutorTest, TellsThatASupervisorHasDied)
{
    const AttemptOrder job = shell_order("sleep 1000");
    start(job);
    wait_until([&] { return executor().look(job.attempt_id).started_at.has_value(); }, "its start");
    static_cast<void>(executor().changes());

    ::kill(supervisor_of(job.attempt_id), SIGKILL);

    // What comes first may be the news of its start.
    const auto is_told_of_it = [&] {
        return executor().changes().moved.contains(job.attempt_id) &&
               executor().look(job.attempt_id).phase == RunPhase::kVanished;
    };
    wait_until(is_told_of_it, "the news");
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
    double before = 0;
    std::istringstream(read_file("/proc/uptime", 100).value()) >> before;

    // Since boot, in hundredths of a second: field 22 of its own line.
    const AttemptEnd end = run(shell_order("awk '{print $22}' /proc/self/stat"));

    std::istringstream times(output(end.attempt_id, OutputStream::kStdout));
    double started = 0;
    ASSERT_TRUE(times >> started);
    EXPECT_GT(started, before * 100 - 10); // both are rounded
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

} // namespace
} // namespace fathom::agent
