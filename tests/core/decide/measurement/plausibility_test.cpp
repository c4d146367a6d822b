#include "core/decide/measurement/plausibility.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::HasSubstr;

/// One operator with three samples of five executions of 0.1 s.
ProbeResult honest()
{
    ProbeResult result;
    result.wall_s = 2.3;
    result.start_up_s = 0.1;
    result.cores = 2;
    OperatorResult item;
    item.id = "dgemm";
    item.first_s = 0.2;
    item.samples_s = {0.1, 0.1, 0.1};
    item.executions = {5, 5, 5};
    item.median_s = 0.1;
    item.operations = 2e9;
    item.bytes = 1e8;
    item.precision = "fp64";
    result.operators.push_back(item);
    return result;
}

TEST(CheckSums, CountsEveryExecutionOfEverySample)
{
    ProbeResult result = honest();

    EXPECT_DOUBLE_EQ(accounted_s(result), 0.2 + 3 * 5 * 0.1);
    EXPECT_EQ(check_sums(result), "");
    result.wall_s = 1.7; // 0.1 + 1.7 is more
    EXPECT_THAT(check_sums(result), HasSubstr("1.8 s together"));
}

TEST(CheckSums, WantsAPositiveNumberOfExecutionsForEachSample)
{
    ProbeResult result = honest();
    result.operators[0].executions = {5, 5};
    EXPECT_THAT(check_sums(result), HasSubstr("executions"));
    result.operators[0].executions = {5, 5, 0};
    EXPECT_THAT(check_sums(result), HasSubstr("executions"));
}

TEST(CheckSums, CountsWhatWasMeasuredWithOneThread)
{
    ProbeResult result = honest();
    result.operators[0].one_thread = SampledTimes{{0.2, 0.2}, {1, 2}, 0.2, 0.2, 0.2};

    EXPECT_DOUBLE_EQ(accounted_s(result), 0.2 + 3 * 5 * 0.1 + 3 * 0.2);
    EXPECT_THAT(check_sums(result), HasSubstr("2.4 s together"));
    result.wall_s = 2.5;
    EXPECT_EQ(check_sums(result), "");
    result.operators[0].one_thread->executions = {1, -2};
    EXPECT_THAT(check_sums(result), HasSubstr("executions"));
}

TEST(CheckSums, CountsWhatTheFirstOfSeveralCopiesTookAlone)
{
    ProbeResult result = honest();
    result.operators[0].alone = SampledTimes{{0.1, 0.1}, {5, 5}, 0.1, 0.1, 0.1};

    EXPECT_DOUBLE_EQ(accounted_s(result), 0.2 + 3 * 5 * 0.1 + 2 * 5 * 0.1);
    EXPECT_THAT(check_sums(result), HasSubstr("2.8 s together"));
    result.wall_s = 2.9;
    EXPECT_EQ(check_sums(result), "");
    // Explained: 0.1 + 2.7 + two executions of 0.1 to learn = 3.0; the bound is 4 + 3.0.
    result.wall_s = 9.9;
    EXPECT_EQ(check_unexplained(result), "") << "it did not stand still meanwhile";
    result.operators[0].alone->executions = {5};
    EXPECT_THAT(check_sums(result), HasSubstr("executions"));
}

TEST(CheckUnexplained, BoundsWhatNothingInTheResultExplains)
{
    ProbeResult result = honest();
    // Explained: 0.1 + 1.7 + two executions of 0.1 to learn = 2.0; the bound is 4 + 2.0.
    result.wall_s = 7.9;
    EXPECT_EQ(check_unexplained(result), "");
    result.wall_s = 8.1;
    EXPECT_THAT(check_unexplained(result), HasSubstr("6.1 s are explained by nothing"));
}

TEST(CheckUnexplained, LeavesTimeToCheckEachElementOfLargeArrays)
{
    ProbeResult result = honest();
    result.wall_s = 12.9; // of which 2.0 are explained
    EXPECT_NE(check_unexplained(result), "");
    result.operators[0].bytes = 6e9; // five GB over the first: the bound is 4 + 5 + 2.0
    EXPECT_EQ(check_unexplained(result), "");
    result.wall_s = 13.1;
    EXPECT_NE(check_unexplained(result), "");
}

TEST(CheckClock, ReportsThatAreSomeTenthsUnderWayAreNoEvidence)
{
    EXPECT_EQ(check_clock(std::vector<ClockedRun>{{2.0, 5.9}}), "");
    EXPECT_EQ(check_clock(std::vector<ClockedRun>{{20, 25.9}}), "");
    EXPECT_EQ(check_clock(std::vector<ClockedRun>(8, {1.0, 2.2})), "");
}

TEST(CheckClock, AHalvedClockShowsInOneLongRun)
{
    EXPECT_THAT(check_clock(std::vector<ClockedRun>{{2.4, 6.9}}),
                HasSubstr("2.4 s by the center's clock, 6.9 s by ours"));
}

TEST(CheckClock, AHalvedClockShowsInManyShortRuns)
{
    std::vector<ClockedRun> runs(4, {1.6, 3.3});
    EXPECT_EQ(check_clock(runs), "");
    runs.push_back({1.6, 3.3});
    EXPECT_THAT(check_clock(runs), HasSubstr("those before it"));
    runs[2] = {1.6, 1.9}; // one that went as claimed speaks for the others
    EXPECT_EQ(check_clock(runs), "");
}

TEST(CheckClock, NobodyCanHaveTakenLongerThanThereWasTime)
{
    EXPECT_NE(check_clock(std::vector<ClockedRun>{{9, 4}}), "");
}

TEST(CheckRates, AProcessorCannotExceedItsPeakByFar)
{
    ProbeResult result = honest();
    result.host["isa"] = {"avx2"};
    const ClaimedHardware hardware = claimed_hardware(result, 1);

    // 16 operations a cycle and core at 6 GHz on two cores: 192 GFLOP/s.
    OperatorResult item = result.operators[0];
    item.median_s = 2e9 / 180e9;
    EXPECT_EQ(check_rates(item, hardware), "");
    item.median_s = 2e9 / 200e9;
    EXPECT_THAT(check_rates(item, hardware), HasSubstr("more than the 192 GFLOP/s"));
}

TEST(CheckRates, AGpuHasItsOwnBounds)
{
    ProbeResult result = honest();
    result.host["gpu"] = {{"multiprocessors", 100}};
    const ClaimedHardware hardware = claimed_hardware(result, 1);

    OperatorResult item = result.operators[0];
    item.median_s = 2e9 / 60e12;
    EXPECT_EQ(check_rates(item, hardware), "");
    item.median_s = 2e9 / 200e12; // 100 · 512 · 3 GHz = 154 TFLOP/s
    EXPECT_NE(check_rates(item, hardware), "");
}

TEST(ProcessorPeak, FollowsTheWidestVectors)
{
    using Sets = std::vector<std::string>;
    EXPECT_EQ(peak_flops_per_cycle(Sets{}, "fp64"), 8);
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx2"}, "fp64"), 16);
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx2", "avx512f"}, "fp64"), 32);
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx512f"}, "fp32"), 64);
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx512f"}, "bf16"), 64) << "without an instruction for them";
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx512f", "avx512_bf16"}, "bf16"), 128);
    EXPECT_EQ(peak_flops_per_cycle(Sets{"avx512f", "avx512_bf16", "amx_bf16"}, "bf16"), 2048);
}

} // namespace
} // namespace fathom
