#include "core/decide/prediction/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

MeasuredOperator measured(const std::string& id, const std::string& key, double operations, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = key;
    one.operations = operations;
    one.bytes = operations / 10;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.99;
    one.ci_high_s = median_s * 1.01;
    one.start_up_s = 0.25;
    one.probe_run_id = "prn_" + key;
    return one;
}

OperatorDemand demand(const std::string& id, const std::string& key, std::int64_t count, double operations)
{
    return {
        .operator_id = id, .parameters_key = key, .count = count, .operations = operations, .bytes = operations / 10};
}

TEST(PredictRun, AddsCountTimesMeasuredTimeAndTheStartUp)
{
    const std::vector all{measured("dgemm", "n=512", 2e8, 0.01), measured("fft3d", "n=64", 1e7, 0.004)};
    const std::vector job{demand("dgemm", "n=512", 3000, 2e8), demand("fft3d", "n=64", 20, 1e7)};

    const RunPrediction run = sum_operators(job, all);

    EXPECT_DOUBLE_EQ(run.run_s, 0.25 + 3000 * 0.01 + 20 * 0.004);
    // 1 % to both sides at 95 % is 0.0051 as a deviation, and 80 % are 1.28 deviations; the two add in squares.
    const double deviation = std::log(1.01 / 0.99) / (2 * 1.96);
    const double narrow = 1 - std::exp(-1.2815515655446004 * deviation);
    EXPECT_NEAR(run.low_s, run.run_s - narrow * std::hypot(30.0, 0.08), 1e-9);
    EXPECT_LT(run.high_s, run.run_s + 30.08 * 0.0066);
    EXPECT_EQ(run.unknown_operators, 0);
    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kMeasured);
    EXPECT_EQ(run.operators[0].probe_run_id, "prn_n=512");
}

TEST(PredictRun, InterpolatesBetweenTwoSizesOnALogScale)
{
    // Time grows as work^1.0 between the two: half way on the log scale is the geometric mean.
    const std::vector all{measured("dgemm", "n=100", 1e6, 1e-4), measured("dgemm", "n=1000", 1e9, 1e-1)};

    const RunPrediction run = sum_operators(std::vector{demand("dgemm", "n=300", 1, 3.1622776601683795e7)}, all);

    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kInterpolated);
    EXPECT_NEAR(run.operators[0].execution_s, 3.1622776601683795e-3, 1e-9);
    EXPECT_LT(run.operators[0].low_s, run.operators[0].execution_s);
    EXPECT_GT(run.operators[0].high_s, run.operators[0].execution_s);
}

TEST(PredictRun, ScalesFromTheNearestSizeOutsideTheMeasuredRange)
{
    const std::vector all{measured("dgemm", "n=100", 1e6, 1e-4), measured("dgemm", "n=1000", 1e9, 0.05)};

    const RunPrediction run = sum_operators(std::vector{demand("dgemm", "n=2000", 1, 8e9)}, all);

    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kScaled);
    EXPECT_DOUBLE_EQ(run.operators[0].execution_s, 0.4);
}

TEST(PredictRun, PrefersASizeOfTheSameShapeToOneOfTheSameWork)
{
    const MeasuredOperator square = measured("dgemm", "k=100,m=100,n=100", 2e6, 1e-4);
    MeasuredOperator thin = measured("dgemm", "k=4,m=600,n=500", 2.4e6, 4.8e-3);
    thin.bytes = 2.4e6;
    OperatorDemand job = demand("dgemm", "k=4,m=1000,n=1000", 1, 8e6);
    job.bytes = 8e6;

    const RunPrediction run = sum_operators(std::vector{job}, std::vector{square, thin});

    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kScaled);
    EXPECT_DOUBLE_EQ(run.operators[0].execution_s, 4.8e-3 * 8 / 2.4);
}

TEST(PredictRun, GrowsWithEveryCount)
{
    const std::vector all{measured("dgemm", "n=512", 2e8, 0.01)};
    double last = 0;
    for (const std::int64_t count : {1, 2, 30, 4000}) {
        const RunPrediction run = sum_operators(std::vector{demand("dgemm", "n=300", count, 5e7)}, all);

        EXPECT_GT(run.run_s, last);
        EXPECT_GE(run.low_s, 0);
        last = run.run_s;
    }
}

TEST(PredictRun, CountsOperatorsThatWereNeverMeasured)
{
    const RunPrediction run =
        sum_operators(std::vector{demand("spmv", "rows=1000", 7, 1e6)}, std::vector{measured("dgemm", "n=1", 1, 1)});

    EXPECT_EQ(run.unknown_operators, 1);
    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kUnknown);
    EXPECT_DOUBLE_EQ(run.operators[0].total_s, 0);
}

TEST(PredictRun, TakesTheNewestOfEqualSizesWhateverTheOrder)
{
    MeasuredOperator old_one = measured("dgemm", "n=512", 2e8, 0.02);
    MeasuredOperator new_one = measured("dgemm", "n=512", 2e8, 0.01);
    new_one.measured_at = old_one.measured_at + std::chrono::hours{1};
    const std::vector job{demand("dgemm", "n=512", 1, 2e8)};

    EXPECT_DOUBLE_EQ(sum_operators(job, std::vector{old_one, new_one}).operators[0].total_s, 0.01);
    EXPECT_DOUBLE_EQ(sum_operators(job, std::vector{new_one, old_one}).operators[0].total_s, 0.01);
}

} // namespace
} // namespace fathom
