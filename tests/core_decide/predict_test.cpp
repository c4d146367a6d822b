#include "core/decide/predict.hpp"

#include <gtest/gtest.h>

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
    return {id, key, count, operations, operations / 10};
}

TEST(PredictRun, AddsCountTimesMeasuredTimeAndTheStartUp)
{
    const std::vector all{measured("dgemm", "n=512", 2e8, 0.01), measured("fft3d", "n=64", 1e7, 0.004)};
    const std::vector job{demand("dgemm", "n=512", 3000, 2e8), demand("fft3d", "n=64", 20, 1e7)};

    const RunPrediction run = predict_run(job, all);

    EXPECT_DOUBLE_EQ(run.run_s, 0.25 + 3000 * 0.01 + 20 * 0.004);
    EXPECT_DOUBLE_EQ(run.low_s, 0.25 + (3000 * 0.01 + 20 * 0.004) * 0.99);
    EXPECT_EQ(run.unknown_operators, 0);
    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kMeasured);
    EXPECT_EQ(run.operators[0].probe_run_id, "prn_n=512");
}

TEST(PredictRun, InterpolatesBetweenTwoSizesOnALogScale)
{
    // Time grows as work^1.0 between the two: half way on the log scale is the geometric mean.
    const std::vector all{measured("dgemm", "n=100", 1e6, 1e-4), measured("dgemm", "n=1000", 1e9, 1e-1)};

    const RunPrediction run = predict_run(std::vector{demand("dgemm", "n=300", 1, 3.1622776601683795e7)}, all);

    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kInterpolated);
    EXPECT_NEAR(run.operators[0].execution_s, 3.1622776601683795e-3, 1e-9);
    EXPECT_LT(run.operators[0].low_s, run.operators[0].execution_s);
    EXPECT_GT(run.operators[0].high_s, run.operators[0].execution_s);
}

TEST(PredictRun, ScalesFromTheNearestSizeOutsideTheMeasuredRange)
{
    const std::vector all{measured("dgemm", "n=100", 1e6, 1e-4), measured("dgemm", "n=1000", 1e9, 0.05)};

    const RunPrediction run = predict_run(std::vector{demand("dgemm", "n=2000", 1, 8e9)}, all);

    EXPECT_EQ(run.operators[0].basis, PredictionBasis::kScaled);
    EXPECT_DOUBLE_EQ(run.operators[0].execution_s, 0.4);
}

TEST(PredictRun, CountsOperatorsThatWereNeverMeasured)
{
    const RunPrediction run =
        predict_run(std::vector{demand("spmv", "rows=1000", 7, 1e6)}, std::vector{measured("dgemm", "n=1", 1, 1)});

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

    EXPECT_DOUBLE_EQ(predict_run(job, std::vector{old_one, new_one}).operators[0].total_s, 0.01);
    EXPECT_DOUBLE_EQ(predict_run(job, std::vector{new_one, old_one}).operators[0].total_s, 0.01);
}

} // namespace
} // namespace fathom
