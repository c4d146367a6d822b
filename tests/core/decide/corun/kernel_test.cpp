#include "core/decide/corun/analyze_application.hpp"
#include "core/decide/corun/kernel.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace fathom {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(NormalizedIpc, IsTheSharedOverTheLone)
{
    EXPECT_DOUBLE_EQ(normalized_ipc(1.5, 2).value(), 0.75);
}

TEST(NormalizedIpc, RefusesWhatIsNoSpeed)
{
    for (const double wrong : {0.0, -1.0, kNan, kInfinite, 1e12}) {
        EXPECT_FALSE(normalized_ipc(wrong, 1)) << wrong;
        EXPECT_FALSE(normalized_ipc(1, wrong)) << wrong;
    }
    EXPECT_EQ(normalized_ipc(1, 0).error().code, Errc::kInvalid);
}

TEST(KernelClassification, ComparesIntensityWithTheBalanceOfTheDevice)
{
    const auto classify = [](double operations, double bytes) {
        return classify_kernel(
                   {.stated = std::nullopt, .operations = operations, .memory_bytes = bytes, .device_balance = 8})
            .value();
    };

    const ClassFinding compute = classify(100, 1);
    EXPECT_EQ(compute.kernel_class, KernelClass::kCompute);
    EXPECT_EQ(compute.source, ClassSource::kMeasured);
    EXPECT_THAT(compute.basis, HasSubstr("100 operations per byte of device memory, the device balances at 8"));
    EXPECT_EQ(classify(1, 1).kernel_class, KernelClass::kMemory);
    EXPECT_EQ(classify(8, 1).kernel_class, KernelClass::kUnknown);
    EXPECT_THAT(classify(8, 1).basis, HasSubstr("too close to tell"));
}

TEST(KernelClassification, AMeasurementOverrulesAStatementAndAStatementDecidesCloseCases)
{
    IntensityEvidence evidence{
        .stated = KernelClass::kCompute, .operations = 1, .memory_bytes = 1, .device_balance = 8};

    EXPECT_EQ(classify_kernel(evidence)->kernel_class, KernelClass::kMemory);
    evidence.operations = 8;
    EXPECT_EQ(classify_kernel(evidence)->kernel_class, KernelClass::kCompute);
    EXPECT_EQ(classify_kernel(evidence)->source, ClassSource::kStated);
    evidence.memory_bytes.reset();
    EXPECT_EQ(classify_kernel(evidence)->source, ClassSource::kStated);
    evidence.stated.reset();
    EXPECT_EQ(classify_kernel(evidence)->source, ClassSource::kNone);
    EXPECT_EQ(classify_kernel(evidence)->kernel_class, KernelClass::kUnknown);
}

// At half the clock what computes takes twice as long: the logarithm of the time follows that of the clock by 1.
TEST(KernelClassification, IsToldFromTimesAtTwoClocksWhereNothingCounts)
{
    const auto timed = [](double time_ratio, std::optional<KernelClass> stated = std::nullopt) {
        return classify_kernel(
                   {.stated = stated, .timings = ClockTimings{.clock_ratio = 0.5, .time_ratio = time_ratio}})
            .value();
    };

    EXPECT_EQ(timed(2).kernel_class, KernelClass::kCompute);
    EXPECT_EQ(timed(2).source, ClassSource::kTimed);
    EXPECT_THAT(timed(2).basis, HasSubstr("2 times as long at 0.5 of the clock"));
    EXPECT_EQ(timed(1.8).kernel_class, KernelClass::kCompute);
    EXPECT_EQ(timed(1.1).kernel_class, KernelClass::kMemory);
    EXPECT_EQ(timed(0.9).kernel_class, KernelClass::kMemory) << "noise";
    EXPECT_EQ(timed(1.4).kernel_class, KernelClass::kUnknown);
    EXPECT_THAT(timed(1.4).basis, HasSubstr("too close to tell"));
    EXPECT_EQ(timed(1.4, KernelClass::kMemory).source, ClassSource::kStated);
    EXPECT_EQ(timed(2, KernelClass::kMemory).kernel_class, KernelClass::kCompute) << "overrules a statement";
    EXPECT_EQ(timed(4).kernel_class, KernelClass::kUnknown);
    EXPECT_THAT(timed(4).basis, HasSubstr("more than the clock was different"));
}

TEST(KernelClassification, CountersComeBeforeTimes)
{
    const IntensityEvidence both{.stated = std::nullopt,
                                 .operations = 1,
                                 .memory_bytes = 1,
                                 .device_balance = 8,
                                 .timings = ClockTimings{.clock_ratio = 0.5, .time_ratio = 2}};
    EXPECT_EQ(classify_kernel(both)->kernel_class, KernelClass::kMemory);
    EXPECT_EQ(classify_kernel(both)->source, ClassSource::kMeasured);
}

TEST(KernelClassification, RefusesTimesThatTellNothing)
{
    for (const ClockTimings& wrong :
         {ClockTimings{.clock_ratio = 0.5, .time_ratio = 0}, ClockTimings{.clock_ratio = 1, .time_ratio = 1},
          ClockTimings{.clock_ratio = kNan, .time_ratio = 1},
          ClockTimings{.clock_ratio = 0.5, .time_ratio = kInfinite}})
        EXPECT_FALSE(classify_kernel({.timings = wrong}));
}

TEST(KernelClassification, RefusesWhatIsNoAmount)
{
    for (const double wrong : {0.0, -1.0, kNan, kInfinite})
        EXPECT_FALSE(
            classify_kernel({.stated = std::nullopt, .operations = wrong, .memory_bytes = 1, .device_balance = 1}));
}

TEST(ApplicationAnalysis, GivesEachKernelItsInstructionsAndItsClass)
{
    InstructionModel model;
    for (const double size : {100.0, 200.0, 400.0})
        model.learn({"train", "gemm", size, 50 * size * size}).value();

    const auto analyses =
        analyze_application({"train", 800, {{"gemm", {.stated = KernelClass::kCompute}}, {"copy", {}}}}, model);

    ASSERT_TRUE(analyses) << describe(analyses.error());
    ASSERT_EQ(analyses->size(), 2U);
    EXPECT_NEAR(analyses->at(0).instructions.instructions / (50 * 800.0 * 800.0), 1, 0.3);
    EXPECT_EQ(analyses->at(0).kernel_class.kernel_class, KernelClass::kCompute);
    EXPECT_EQ(analyses->at(1).instructions.basis, InstructionBasis::kApplication);
    EXPECT_EQ(analyses->at(1).kernel_class.source, ClassSource::kNone);
}

TEST(ApplicationAnalysis, NamesEveryFaultAndNeedsSomethingLearned)
{
    InstructionModel model;
    const SubmittedApplication wrong{"train", -1, {{"gemm", {.operations = kNan}}, {"copy", {.memory_bytes = 0}}}};

    EXPECT_EQ(analyze_application(wrong, model).error().fields.size(), 3U);
    EXPECT_EQ(analyze_application({"train", 1, {{"gemm", {}}}}, model).error().code, Errc::kInfeasible);
}

} // namespace
} // namespace fathom
