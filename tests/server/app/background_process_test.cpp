#include "server/app/background_process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// What a real process of ours takes from a real one beside it.
namespace fathom::server {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kMeasured{4};
/// A look in which it disturbs, and the pause that it owes for it (BackgroundPace::kPause), where it had half of the
/// look.
constexpr std::chrono::seconds kLookAndPause{20};

/// The first processor that this program may use, for itself and its children while it lives.
class OneProcessor {
  public:
    OneProcessor()
    {
        if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
            if (!CPU_ISSET(i, &before_)) continue;
            CPU_SET(i, &one);
            break;
        }
        is_bound_ = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    ~OneProcessor()
    {
        if (is_bound_) sched_setaffinity(0, sizeof before_, &before_);
    }
    OneProcessor(const OneProcessor&) = delete;
    OneProcessor& operator=(const OneProcessor&) = delete;

    bool is_bound() const { return is_bound_; }

  private:
    cpu_set_t before_{};
    bool is_bound_ = false;
};

/// A child that computes for ever, as this program's equal.
pid_t start_busy_child()
{
    const pid_t child = fork();
    if (child != 0) return child;
    for (volatile unsigned turns = 0;;)
        turns = turns + 1;
}

double seconds_of(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_processor_s()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// @return the processor time that it had.
double end_child(pid_t child)
{
    kill(child, SIGKILL);
    rusage used{};
    EXPECT_EQ(wait4(child, nullptr, 0, &used), child);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

/// Computes beside the child, as a job would, and looks after it, if at all.
/// @return what share of the processor time of both the child had.
double share_of_child(pid_t child, BackgroundProcess* background)
{
    const double began_s = own_processor_s();
    const auto end = Clock::now() + kMeasured;
    auto next_look = Clock::now() + BackgroundProcess::kPeriod;
    while (Clock::now() < end) {
        if (background == nullptr || Clock::now() < next_look) continue;
        background->look();
        next_look = Clock::now() + BackgroundProcess::kPeriod;
    }
    const double own_s = own_processor_s() - began_s;
    const double childs_s = end_child(child);
    return childs_s / (childs_s + own_s);
}

/// Computes beside the child until that has run and stood still for it, and is to go on.
/// @return what share of this time the child used the processor. On a machine that others use, too, it gets less in its
///         look, and stands still for less.
double share_of_time(pid_t child, BackgroundProcess& background)
{
    const auto began = Clock::now();
    auto next_look = began + BackgroundProcess::kPeriod;
    bool was_running = false;
    int times_begun = 0;
    while (times_begun < 2 && Clock::now() < began + kLookAndPause) {
        if (Clock::now() < next_look) continue;
        background.look();
        next_look = Clock::now() + BackgroundProcess::kPeriod;
        times_begun += background.may_run() && !was_running ? 1 : 0;
        was_running = background.may_run();
    }
    const double passed_s = std::chrono::duration<double>(Clock::now() - began).count();
    return end_child(child) / passed_s;
}

TEST(BackgroundProcess, TakesNextToNothingFromAProcessThatWantsItsProcessor)
{
    const OneProcessor bound;
    if (!bound.is_bound()) GTEST_SKIP() << "this program may not be bound to a processor";

    double unwatched_share = 0;
    double watched_share = 1;
    // A measurement in which one of both did not run, or nobody looked, says nothing.
    for (int i = 0; i < 4 && unwatched_share <= 0.3; ++i) {
        const pid_t unwatched = start_busy_child();
        ASSERT_GT(unwatched, 0);
        unwatched_share = share_of_child(unwatched, nullptr);
    }
    EXPECT_GT(unwatched_share, 0.3) << "left alone it takes half";

    for (int i = 0; i < 4 && watched_share >= 0.1; ++i) {
        const pid_t watched = start_busy_child();
        ASSERT_GT(watched, 0);
        BackgroundProcess background(watched);
        watched_share = share_of_child(watched, &background);
    }
    // It is found to disturb in one look, a sixteenth of the time here, of which it has half; then it stands still.
    EXPECT_LT(watched_share, 0.1);
}

// The child is the job's equal to the kernel, as between control groups, where priorities do not count.
TEST(BackgroundProcess, CostsAJobThatRunsOnItsProcessorLessThanAHundredth)
{
    const OneProcessor bound;
    if (!bound.is_bound()) GTEST_SKIP() << "this program may not be bound to a processor";
    double share = 1;
    for (int i = 0; i < 3 && share >= 0.01; ++i) { // while this process stands still, nobody looks
        const pid_t child = start_busy_child();
        ASSERT_GT(child, 0);
        BackgroundProcess background(child);
        share = share_of_time(child, background);
    }

    EXPECT_LT(share, 0.01);
}

} // namespace
} // namespace fathom::server
