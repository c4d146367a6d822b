// How many samples a task takes, and from which instances.
#include "core/decide/statistics/sample_statistics.hpp"
#include "probes/runner/run_task.hpp"
#include "tests/probes/runner/sleeping_operators.hpp"
#include "tests/probes/runner/small_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace fathom::probes {
namespace {

using testing::ElementsAre;

/// Its executions take 5 ms or 80 ms, two of each in turn: however many there are, their median is not known within 37
/// %.
class Unsteady final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override
    {
        std::this_thread::sleep_for(std::chrono::microseconds(executions++ % 4 < 2 ? 5000 : 80000));
    }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int executions = 0; ///< of all instances
};

/// Replaces the operator `id`, at its default size.
RegisteredOperator unsteady(const char* id)
{
    return {
        .manifest = find_operator(id)->manifest,
        .make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Unsteady>(); },
        .memory = [](const Parameters&) { return 0.0; }};
}

/// An unsteady operator, and one that is measured at once.
ProbeTask uneven_task()
{
    return {.name = "uneven",
            .operators = {{.id = "spmv", .parameters = {}}, {.id = "dgemm", .parameters = {}}},
            .repeats = 3,
            .min_sample_s = 0.001};
}

Result<ProbeResult> run_uneven(const ProbeTask& task)
{
    RunConditions here = conditions();
    here.uploads = {unsteady("spmv"), sleeper()};
    return run_task(*validate_task(task, here.uploads), here);
}

std::int64_t least_count(const ProbeResult& result)
{
    const std::vector<std::int64_t> counts = sample_counts(result);
    return *std::min_element(counts.begin(), counts.end());
}

TEST(RunTask, GoesOnWithTheOperatorsWhoseMedianIsNotKnownWellEnough)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.45; // between the sleeper's jitter on a busy machine and the unsteady one's 47 %
    task.sample_budget_s = 3;

    // One that stood still meanwhile had no time for more samples.
    Result<ProbeResult> result = run_uneven(task);
    for (int i = 0; i < 4 && !(result && least_count(*result) >= std::int64_t{kMinForInterval}); ++i)
        result = run_uneven(task);

    ASSERT_TRUE(result) << describe(result.error());
    // Beside other programs a sleeper may be unsteady, too; who has fewer samples must be known well enough all the
    // same.
    const std::vector<std::int64_t> counts = sample_counts(*result);
    EXPECT_GE(counts[0], std::int64_t{kMinForInterval});
    EXPECT_GE(counts[1], std::int64_t{kMinForInterval});
    if (counts[0] != counts[1])
        EXPECT_TRUE(result->operators[counts[0] < counts[1] ? 0 : 1].is_target_reached)
            << counts[0] << " " << counts[1];
}

TEST(RunTask, TakesNoMoreSamplesThanTheTaskAllows)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.001; // out of reach
    task.sample_budget_s = 1;
    task.limit_s = 200;
    auto start = std::chrono::steady_clock::now();

    // One that stood still in its first samples had no time for more.
    Result<ProbeResult> result = run_uneven(task);
    for (int i = 0; i < 4 && result && sample_counts(*result)[0] <= 3; ++i) {
        start = std::chrono::steady_clock::now();
        result = run_uneven(task);
    }

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_FALSE(result->operators[0].is_target_reached);
    EXPECT_GT(sample_counts(*result)[0], 3);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)); // 60 % of the limit without a budget

    task.target_interval = 0;
    EXPECT_THAT(sample_counts(*run_uneven(task)), ElementsAre(3, 3));
}

TEST(RunTask, LeavesTimeToVerifyResults)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.001;
    task.sample_budget_s = 100;
    task.limit_s = 5;

    // Samples take 3 s. If they took all of the time, none would end within it; with the rest of it only one does not
    // that stood still meanwhile.
    bool has_ended_in_time = false;
    for (int i = 0; i < 5 && !has_ended_in_time; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const bool is_whole = run_uneven(task).has_value();
        has_ended_in_time = is_whole && std::chrono::steady_clock::now() - start < std::chrono::seconds(5);
    }
    EXPECT_TRUE(has_ended_in_time);
}

/// Counts how often it is made.
class Counted final : public ProbeOperator {
  public:
    Counted() { ++made; }
    Result<void> prepare(std::uint64_t seed) override
    {
        seeds.push_back(seed);
        return {};
    }
    void execute() override { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int made = 0;
    static inline std::vector<std::uint64_t> seeds;
};

/// Runs a task of one such operator that takes so much memory.
void run_counted(double memory_bytes)
{
    RegisteredOperator counted = sleeper();
    counted.make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Counted>(); };
    counted.memory = [=](const Parameters&) { return memory_bytes; };
    RunConditions here = conditions(100e6);
    here.uploads = {counted};
    ProbeTask task{.name = "t", .operators = {{.id = "dgemm", .parameters = {}}}, .repeats = 8, .target_interval = 0};
    task.seed = 5;
    // Making another instance takes a small share of that, also where other programs have the processors.
    task.min_sample_s = 0.3;
    Counted::made = 0;
    Counted::seeds.clear();
    ASSERT_TRUE(run_task(*validate_task(task, here.uploads), here));
}

TEST(RunTask, TakesSamplesFromInstancesWithMemoryOfTheirOwn)
{
    // One that stood still while it made another makes no more of them.
    for (int i = 0; i < 50 && Counted::made != 8; ++i)
        run_counted(40e6);

    EXPECT_EQ(Counted::made, 8); // one for each sample
    EXPECT_THAT(Counted::seeds, testing::Each(5U));
}

TEST(RunTask, KeepsOneInstanceWhereMemoryIsShort)
{
    run_counted(60e6); // of 100 MB

    EXPECT_EQ(Counted::made, 1);
}

} // namespace
} // namespace fathom::probes
