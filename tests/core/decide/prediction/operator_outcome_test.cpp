#include "core/decide/prediction/operator_outcome.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

MeasuredOperator probed(const std::string& id, double work, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=" + std::to_string(std::llround(work));
    one.operations = work;
    one.bytes = work;
    one.median_s = median_s;
    one.ci_low_s = 0.9 * median_s;
    one.ci_high_s = 1.1 * median_s;
    return one;
}

OperatorDemand counted(const std::string& id, double work, std::int64_t count, double share)
{
    OperatorDemand demand;
    demand.operator_id = id;
    demand.parameters_key = "n=" + std::to_string(std::llround(work));
    demand.count = count;
    demand.operations = work;
    demand.bytes = work;
    demand.share = share;
    return demand;
}

TEST(OperatorOutcomes, HoldTheTimeOfEachOperatorAgainstWhatProbesLetExpect)
{
    const std::vector here{probed("dgemm", 1e6, 0.01), probed("sort", 1e6, 0.5)};
    const std::vector run{counted("dgemm", 1e6, 100, 0.6), counted("sort", 1e6, 4, 0.25)};

    const std::vector<OperatorOutcome> found = operator_outcomes(run, 2, {.operators = here});

    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].predicted.operator_id, "dgemm");
    EXPECT_NEAR(found[0].actual_s, 1.2, 1e-12);
    EXPECT_NEAR(found[0].predicted.total_s, 1, 1e-12);
    EXPECT_EQ(found[0].predicted.basis, PredictionBasis::kMeasured);
    EXPECT_LT(found[0].predicted.low_s, 1);
    EXPECT_GT(found[0].predicted.high_s, 1);
    EXPECT_NEAR(found[1].actual_s, 0.5, 1e-12);
    EXPECT_NEAR(found[1].predicted.total_s, 2, 1e-12);
}

TEST(OperatorOutcomes, OfAnOperatorThatWasNotMeasuredThereAreWithoutAPrediction)
{
    const std::vector here{probed("dgemm", 1e6, 0.01)};

    const std::vector<OperatorOutcome> found =
        operator_outcomes(std::vector{counted("sort", 1e6, 4, 0.25)}, 2, {.operators = here});

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].predicted.basis, PredictionBasis::kUnknown);
    EXPECT_EQ(found[0].predicted.total_s, 0);
    EXPECT_NEAR(found[0].actual_s, 0.5, 1e-12);
}

TEST(OperatorOutcomes, OfOperatorsThatAProgramsOwnThreadsComputeAreAgainstProbesWithOneThread)
{
    const std::vector all_cores{probed("fft3d", 1e6, 0.01)};
    const std::vector one_core{probed("fft3d", 1e6, 0.04)};
    std::vector run{counted("fft3d", 1e6, 10, 0.5)};
    run[0].is_serial = true;
    const auto predicted_s = [&](const UnitMeasurements& units) {
        return operator_outcomes(run, 1, units).at(0).predicted.total_s;
    };

    EXPECT_NEAR(predicted_s({.operators = all_cores, .cores = 4, .one_core = one_core}), 0.4, 1e-12);
    EXPECT_EQ(predicted_s({.operators = all_cores, .cores = 4}), 0) << "nobody measured it with one";
    EXPECT_NEAR(predicted_s({.operators = all_cores, .cores = 1}), 0.1, 1e-12);
    run[0].is_serial = false;
    EXPECT_NEAR(predicted_s({.operators = all_cores, .cores = 4, .one_core = one_core}), 0.1, 1e-12);
}

TEST(OperatorOutcomes, LeaveOutWhatWasNotCountedAndWhatTookNoTime)
{
    const std::vector here{probed("stream_triad", 1e6, 0.01)};
    std::vector run{counted("stream_triad", 1e6, 10, 0.5), counted("stream_triad", 1e6, 10, 0)};
    run[0].remainder = "memory";

    EXPECT_TRUE(operator_outcomes(run, 1, {.operators = here}).empty());
}

TEST(OperatorOutcomes, KeepHowMuchCallsAreLikeTheirOperator)
{
    const std::vector here{probed("dgemm", 1e6, 0.01)};
    std::vector run{counted("dgemm", 1e6, 10, 0.5)};
    run[0].similarity = 0.7;

    EXPECT_EQ(operator_outcomes(run, 1, {.operators = here}).at(0).similarity, 0.7);
}

} // namespace
} // namespace fathom
