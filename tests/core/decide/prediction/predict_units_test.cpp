#include "core/decide/prediction/predict_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Amdahl's law with this serial part, exactly measured at these counts.
std::shared_ptr<const OperatorSpeedup> amdahl(const std::string& id, const std::string& key, double serial,
                                              const std::vector<int>& counts, double work = 1e6)
{
    std::vector<ScalingPoint> points;
    for (const int n : counts)
        points.push_back({static_cast<double>(n), 1 / (serial + (1 - serial) / n)});
    return std::make_shared<OperatorSpeedup>(id, key, work, fit_scaling(points, ScalingMode::kStrong).value());
}

/// A job of one operator at one size that takes `total_s` on one unit.
RunPrediction takes(double total_s, double start_up_s = 0, const std::string& id = "dgemm")
{
    OperatorPrediction one;
    one.operator_id = id;
    one.parameters_key = "n=1";
    one.basis = PredictionBasis::kMeasured;
    one.total_s = total_s;
    RunPrediction run;
    run.start_up_s = start_up_s;
    run.run_s = run.low_s = run.high_s = start_up_s + total_s;
    run.operators.push_back(one);
    return run;
}

const std::vector<OperatorDemand> kDemand{{"dgemm", "n=1", 1, 1e6, 1e5}};

TEST(OperatorSpeedup, OneUnitIsTheMeasureOfAll)
{
    const auto curve = amdahl("dgemm", "n=1", 0.1, {1, 2, 3, 4, 6, 8});

    EXPECT_EQ(curve->at(1).factor, 1);
    EXPECT_EQ(curve->at(1).low, 1);
    EXPECT_NEAR(curve->at(4).factor, 1 / (0.1 + 0.9 / 4), 1e-6);
    EXPECT_EQ(curve->largest_known(), 16);
}

TEST(OperatorSpeedup, BeyondTwiceTheLargestCountNothingMoreIsAssumed)
{
    const auto curve = amdahl("dgemm", "n=1", 0.1, {1, 2, 3, 4, 8});

    EXPECT_EQ(curve->at(100).factor, curve->at(16).factor);
    EXPECT_GT(curve->at(100).high, curve->at(16).high) << "though it may be so";
}

TEST(OperatorSpeedup, OfTwoPointsTheIntervalSaysHowLittleIsKnownBeyond)
{
    const auto curve = amdahl("dgemm", "n=1", 0.0, {1, 2});

    EXPECT_NEAR(curve->at(4).factor, 4, 1e-6);
    EXPECT_NEAR(curve->at(4).low, 2, 1e-6);
}

// By hand: 0.5 s start-up + 10 s at S(4) = 1 / (0.1 + 0.9 / 4) = 3.0769…: 0.5 + 3.25.
TEST(ScaledRun, TheStartUpIsNotDivided)
{
    const UnitSpeedups known{amdahl("dgemm", "n=1", 0.1, {1, 2, 3, 4, 6, 8})};
    const RunPrediction single = takes(10, 0.5);

    EXPECT_NEAR(ScaledRun(single, kDemand, &known).at(4).run_s, 0.5 + 3.25, 1e-6);
}

TEST(ScaledRun, AnOperatorWithoutACurveIsNotDividedAndSaysSo)
{
    const RunPrediction single = takes(10);
    const ScaledRun run(single, kDemand, nullptr);

    EXPECT_EQ(run.at(4).run_s, 10);
    EXPECT_EQ(run.at(4).high_s, 10);
    EXPECT_EQ(run.at(4).low_s, 2.5) << "it may be divided all the same";
    EXPECT_THAT(run.assumptions(4),
                ElementsAre("how dgemm(n=1) scales over units is not measured: its time is not divided"));
    EXPECT_THAT(run.assumptions(1), IsEmpty());
    EXPECT_EQ(run.knee(100), 1);
}

TEST(ScaledRun, TakesTheCurveOfTheNearestSizeAndSaysSo)
{
    const UnitSpeedups known{amdahl("dgemm", "n=0", 0.5, {1, 2, 3, 4}, 1e3),
                             amdahl("dgemm", "n=9", 0.0, {1, 2, 3, 4}, 1e7)};
    const RunPrediction single = takes(10);
    const ScaledRun run(single, kDemand, &known);

    EXPECT_NEAR(run.at(4).run_s, 2.5, 1e-6);
    EXPECT_THAT(run.assumptions(4), ElementsAre("dgemm(n=1) is taken to scale as dgemm(n=9)"));
}

TEST(ScaledRun, SaysWhatLiesBeyondItsMeasurements)
{
    const UnitSpeedups known{amdahl("dgemm", "n=1", 0.1, {1, 2, 3, 4})};
    const RunPrediction single = takes(10);
    const ScaledRun run(single, kDemand, &known);

    EXPECT_THAT(run.assumptions(4), IsEmpty());
    EXPECT_THAT(run.assumptions(6), ElementsAre(HasSubstr("its speed-up on more is that of the curve")));
    EXPECT_THAT(run.assumptions(9), ElementsAre(HasSubstr("beyond 8 no further speed-up is assumed")));
}

// By hand: t(n) = 0.25 + 0.75/n, S²/n is largest where n = 0.75/0.25 = 3.
TEST(ScaledRun, TheKneeIsWhereEfficiencyTimesSpeedUpIsLargest)
{
    const UnitSpeedups known{amdahl("dgemm", "n=1", 0.25, {1, 2, 3, 4, 6, 8})};
    const RunPrediction single = takes(10);
    const ScaledRun run(single, kDemand, &known);

    EXPECT_EQ(run.knee(100), 3);
    EXPECT_EQ(run.knee(2), 2);
}

TEST(ScaledRun, AStartUpThatIsNotDividedMovesTheKneeOfTheJob)
{
    const UnitSpeedups known{amdahl("dgemm", "n=1", 0.0, {1, 2, 4, 8})};
    const RunPrediction short_job = takes(4, 1);
    const RunPrediction long_job = takes(400, 1);

    EXPECT_EQ(ScaledRun(short_job, kDemand, &known).knee(16), 4) << "1 + 4/n: knee at 4/1";
    EXPECT_EQ(ScaledRun(long_job, kDemand, &known).knee(16), 16);
}

RC_GTEST_PROP(OperatorSpeedupProperty, NoCountIsBetterThanTheBoundsSay, ())
{
    std::vector<ScalingPoint> points{{1, 1}};
    const double most = *rc::gen::inRange(2, 300);
    for (const double share : {0.1, 0.3, 0.6, 1.0}) {
        const double n = std::max(2.0, std::floor(most * share));
        if (n > points.back().unit_count) points.push_back({n, n * *rc::gen::inRange(5, 130) / 100.0});
    }
    const auto curve = fit_scaling(points, ScalingMode::kStrong);
    if (!curve) return;
    const OperatorSpeedup speedup("dgemm", "n=1", 1e9, *curve);
    for (std::int64_t n = 1; n <= 700; ++n) {
        RC_ASSERT(speedup.saved(n).factor <= speedup.most_saved() + 1e-12);
        RC_ASSERT(speedup.at(n).factor / static_cast<double>(n) <= speedup.best_efficiency() * (1 + 1e-12));
    }
}

RC_GTEST_PROP(ScaledRunProperty, TheIntervalHoldsTheRunAndNothingIsNegative, ())
{
    const double serial = *rc::gen::inRange(0, 100) / 100.0;
    const UnitSpeedups known{amdahl("dgemm", "n=1", serial, {1, 2, 3, 5, 9})};
    const RunPrediction single = takes(*rc::gen::inRange(0, 1000) / 10.0, *rc::gen::inRange(0, 20) / 10.0);
    const ScaledRun run(single, kDemand, &known);
    const auto count = *rc::gen::inRange<std::int64_t>(1, 40);

    const RunTime time = run.at(count);

    RC_ASSERT(time.run_s >= 0 && time.low_s >= 0);
    RC_ASSERT(time.low_s <= time.run_s * (1 + 1e-9) + 1e-12);
    RC_ASSERT(time.high_s >= time.run_s * (1 - 1e-9) - 1e-12);
    RC_ASSERT(time.run_s >= single.start_up_s - 1e-9);
    RC_ASSERT(time.run_s <= run.at(1).run_s * (1 + 1e-6));
}

RC_GTEST_PROP(DividedRunProperty, TheRunTimeAloneIsThatOfTheWholeInterval, ())
{
    const double serial = *rc::gen::inRange(0, 100) / 100.0;
    const auto curve = amdahl("dgemm", "n=1", serial, {1, 2, 3, 5, 9});
    const double total_s = *rc::gen::inRange(0, 1000) / 10.0;
    const std::vector<ScaledPart> parts{{total_s, curve.get(), nullptr}, {total_s / 3, nullptr, nullptr}};
    const double single_s = total_s * 4 / 3 + *rc::gen::inRange(0, 20) / 10.0;
    const DividedRun run({single_s, single_s, single_s}, parts);
    const auto count = *rc::gen::inRange<std::int64_t>(1, 100);

    RC_ASSERT(run.run_s(count) == run.at(count).run_s); // to the last bit: decisions rest on both
}

} // namespace
} // namespace fathom
