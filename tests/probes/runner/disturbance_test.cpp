#include "probes/runner/core_clock.hpp"
#include "probes/runner/disturbance.hpp"
#include "probes/runner/disturbance_watch.hpp"
#include "probes/runner/process_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::probes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const MachineCounters kBefore{.steady_s = 100,
                              .wall_s = 5000,
                              .used_s = 7,
                              .waited_s = 1,
                              .thread_waited_s = {{11, 0.4}, {12, 0.6}},
                              .busy_s = 300,
                              .stolen_s = 20};

MachineCounters later(double elapsed_s)
{
    MachineCounters after = kBefore;
    after.steady_s += elapsed_s;
    after.wall_s += elapsed_s;
    after.used_s += elapsed_s;
    after.busy_s += elapsed_s;
    return after;
}

TEST(Disturbance, IsNotSeenWhereThereIsNone)
{
    EXPECT_THAT(causes_in_sample(kBefore, later(0.02)), IsEmpty());
    EXPECT_THAT(causes_in_stretch(kBefore, later(0.2), 1), IsEmpty());
}

TEST(Disturbance, IsAThreadThatWaitedForAProcessor)
{
    MachineCounters after = later(0.1);
    after.thread_waited_s[12] += 0.0019; // under 2 %
    EXPECT_THAT(causes_in_sample(kBefore, after), IsEmpty());
    after.thread_waited_s[12] += 0.0002;
    EXPECT_THAT(causes_in_sample(kBefore, after), ElementsAre("preempted"));
}

TEST(Disturbance, IsNotTheSumOfTheShortWaitsOfManyThreads)
{
    MachineCounters after = later(0.1);
    for (std::int64_t thread = 11; thread < 75; ++thread) { // 1 % each
        after.thread_waited_s[thread] = 0.001 + (thread == 11 ? 0.4 : thread == 12 ? 0.6 : 0);
        after.waited_s += 0.001;
    }
    EXPECT_THAT(causes_in_sample(kBefore, after), IsEmpty());
    EXPECT_NEAR(longest_wait_s(kBefore, after), 0.001, 1e-9);

    after.thread_waited_s[99] = 0.01; // started since
    EXPECT_THAT(causes_in_sample(kBefore, after), ElementsAre("preempted"));
    after.thread_waited_s.clear(); // all have ended
    EXPECT_THAT(causes_in_sample(kBefore, after), IsEmpty());
}

TEST(Disturbance, IsAStepOfTheWallClockInEitherDirection)
{
    for (const double step_s : {-3600.0, -0.002, 0.002, 1e6}) {
        MachineCounters after = later(0.1);
        after.wall_s += step_s;
        EXPECT_THAT(causes_in_sample(kBefore, after), ElementsAre("clock"));
        EXPECT_NEAR(clock_step_s(kBefore, after), step_s, 1e-9 * std::abs(step_s) + 1e-9);
    }
    MachineCounters after = later(0.1);
    after.wall_s += 0.0005;
    EXPECT_THAT(causes_in_sample(kBefore, after), IsEmpty());
}

TEST(Disturbance, IsTimeThatTheHypervisorTook)
{
    MachineCounters after = later(0.2);
    after.stolen_s += 0.01; // 5 % of one core, 1.25 % of four
    EXPECT_THAT(causes_in_stretch(kBefore, after, 1), ElementsAre("steal"));
    EXPECT_THAT(causes_in_stretch(kBefore, after, 4), IsEmpty());
}

TEST(Disturbance, IsWhatOthersUseBesideUs)
{
    MachineCounters after = later(0.2);
    after.busy_s += 0.04; // 0.02 s, and 0.03 s that may be chance, are allowed
    EXPECT_THAT(causes_in_stretch(kBefore, after, 1), IsEmpty());
    after.busy_s += 0.02;
    EXPECT_THAT(causes_in_stretch(kBefore, after, 1), ElementsAre("load"));
    EXPECT_NEAR(used_by_others_s(kBefore, after), 0.06, 1e-9);
}

TEST(Disturbance, CountsWhatWeUseOurselvesAsNobodyElses)
{
    MachineCounters after = later(0.2);
    after.used_s += 0.6; // threads whose ticks were not counted yet
    EXPECT_DOUBLE_EQ(used_by_others_s(kBefore, after), 0);
    EXPECT_THAT(causes_in_stretch(kBefore, after, 4), IsEmpty());
}

TEST(Disturbance, IsAnotherClockRateThanUsual)
{
    EXPECT_THAT(samples_at_another_clock(std::vector{3e9, 3.01e9, 2.5e9, 2.99e9, 3e9, 3.5e9}), ElementsAre(2, 5));
    EXPECT_THAT(samples_at_another_clock(std::vector{0.0, 0.0}), IsEmpty());
    EXPECT_THAT(samples_at_another_clock({}), IsEmpty());
}

TEST(ProcessTreeTimes, AreOfEachThreadBesideTheirSum)
{
    std::jthread other([](const std::stop_token& stop) {
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });

    const ProcessTimes times = process_tree_times();

    EXPECT_GE(times.thread_waited_s.size(), 2U);
    EXPECT_TRUE(times.thread_waited_s.contains(getpid()));
    double sum_s = 0;
    for (const auto& [thread, waited_s] : times.thread_waited_s)
        sum_s += waited_s;
    EXPECT_NEAR(sum_s, times.waited_s, 1e-9);
}

TEST(ProcessorTimes, AreOfTheProcessorsThatCount)
{
    const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    constexpr const char* kStat = "cpu  9 9 9 9 9 9 9 9 9 9\n"
                                  "cpu0 100 1 20 5000 70 2 3 40 0 0\n"
                                  "cpu1 200 0 0 5000 0 0 0 0 0 0\n"
                                  "cpu10 400 0 0 5000 0 0 0 7 0 0\n"
                                  "intr 1 2 3\n";

    const ProcessorTimes times = processor_times(kStat, {0, 10});

    EXPECT_DOUBLE_EQ(times.busy_s, (100 + 1 + 20 + 2 + 3 + 400) * tick_s); // not idle, not waiting for a disk
    EXPECT_DOUBLE_EQ(times.stolen_s, 47 * tick_s);
    EXPECT_DOUBLE_EQ(processor_times("", {0}).busy_s, 0);
    EXPECT_DOUBLE_EQ(processor_times("cpu0", {0}).busy_s, 0);
}

void spin(std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// A process that computes until it goes out of scope.
class Spinner {
  public:
    Spinner() : child_(fork())
    {
        if (child_ == 0) {
            spin(std::chrono::seconds(120));
            _exit(0);
        }
    }
    ~Spinner()
    {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    Spinner(const Spinner&) = delete;
    Spinner& operator=(const Spinner&) = delete;

  private:
    pid_t child_;
};

/// Whether the tree uses 30 ms in the next minute, however busy the machine is.
bool is_used(double before_s)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        if (process_tree_times().used_s - before_s > 0.03) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

TEST(ProcessTreeTimes, CountProcessesThatWereStarted)
{
    const double before_s = process_tree_times().used_s;
    const Spinner spinner;

    EXPECT_TRUE(is_used(before_s));
}

TEST(ProcessTreeTimes, CountThreads)
{
    const double before_s = process_tree_times().used_s;
    const std::jthread thread([](const std::stop_token& stop) {
        while (!stop.stop_requested())
            spin(std::chrono::milliseconds(1));
    });

    EXPECT_TRUE(is_used(before_s));
}

TEST(DisturbanceWatch, SeesThatAProcessorIsShared)
{
    cpu_set_t before{};
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one{};
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Spinner rival; // on the same processor
    DisturbanceWatch watch(1);

    // Where both stood still meanwhile, neither waited for the other.
    SampleEvidence evidence;
    for (int i = 0; i < 10 && std::count(evidence.causes.begin(), evidence.causes.end(), "preempted") == 0; ++i) {
        watch.begin_sample();
        spin(std::chrono::milliseconds(150));
        evidence = watch.end_sample();
    }
    watch.end_stretch();
    sched_setaffinity(0, sizeof before, &before);

    EXPECT_THAT(evidence.causes, Contains("preempted"));
    EXPECT_GT(watch.totals().at("waited_s").get<double>(), 0.02);
}

TEST(CoreClock, IsThatOfAProcessor)
{
    const double clock_hz = measure_core_clock_hz();

    if (clock_hz == 0) GTEST_SKIP() << "not written for this architecture";
    EXPECT_GT(clock_hz, 0.2e9);
    EXPECT_LT(clock_hz, 10e9);
}

} // namespace
} // namespace fathom::probes
