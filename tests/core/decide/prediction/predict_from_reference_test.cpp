#include "core/decide/prediction/predict_from_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

MeasuredOperator measured(const std::string& id, double work, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "work=" + std::to_string(std::llround(work));
    one.operations = work;
    one.bytes = work;
    one.median_s = one.ci_low_s = one.ci_high_s = median_s;
    return one;
}

OperatorDemand demand(const std::string& id, double work, double share, const std::string& remainder = "")
{
    return {.operator_id = id,
            .parameters_key = "work=" + std::to_string(std::llround(work)),
            .count = 10,
            .operations = work,
            .bytes = work,
            .share = share,
            .remainder = remainder};
}

ReferenceRun run_on(std::span<const MeasuredOperator> measured, double run_s)
{
    ReferenceRun run;
    run.run_s = run_s;
    run.units.operators = measured;
    return run;
}

TEST(PredictFromReference, OnTheSameUnitsIsTheRunItself)
{
    const std::vector here{measured("dgemm", 1e6, 0.01), measured("stream_triad", 1e6, 0.02)};
    const std::vector job{demand("dgemm", 1e6, 0.5), demand("dgemm", 5e5, 0.1),
                          demand("stream_triad", 1e6, 0.3, "memory")};

    const RunPrediction found = predict_from_reference(job, run_on(here, 8), {.operators = here});

    EXPECT_NEAR(found.run_s, 8, 1e-9);
    EXPECT_NEAR(found.unmatched_s, 0.8, 1e-9);
    EXPECT_LT(found.low_s, 8);
    EXPECT_GT(found.high_s, 8);
}

TEST(PredictFromReference, MultipliesEachShareByItsOwnRatio)
{
    const std::vector before{measured("dgemm", 1e6, 0.01), measured("fft3d", 1e6, 0.02)};
    const std::vector there{measured("dgemm", 1e6, 0.03), measured("fft3d", 1e6, 0.01)};
    ReferenceRun reference = run_on(before, 10);
    reference.waiting_share = 0.2;

    const RunPrediction found = predict_from_reference(
        std::vector{demand("dgemm", 1e6, 0.6), demand("fft3d", 1e6, 0.2)}, reference, {.operators = there});

    EXPECT_NEAR(found.run_s, 10 * (0.6 * 3 + 0.2 * 0.5 + 0.2), 1e-9); // waiting stays as it is
    EXPECT_NEAR(found.waiting_s, 2, 1e-12);
    EXPECT_EQ(found.operators[0].basis, PredictionBasis::kMeasured);
}

TEST(PredictFromReference, InterpolatesTheLogarithmOfTheRatio)
{
    const std::vector before{measured("dgemm", 1e4, 1), measured("dgemm", 1e8, 1)};
    const std::vector there{measured("dgemm", 1e4, 1), measured("dgemm", 1e8, 4)};

    const RunPrediction found =
        predict_from_reference(std::vector{demand("dgemm", 1e6, 1)}, run_on(before, 1), {.operators = there});

    EXPECT_NEAR(found.run_s, 2, 1e-9); // as far from both
    EXPECT_EQ(found.operators[0].basis, PredictionBasis::kInterpolated);
}

TEST(PredictFromReference, IsLessCertainFartherFromWhatWasMeasured)
{
    const std::vector here{measured("dgemm", 1e6, 1)};
    double last = 1;
    for (const double work : {1e6, 1e8, 1e10}) {
        const RunPrediction found =
            predict_from_reference(std::vector{demand("dgemm", work, 1)}, run_on(here, 1), {.operators = here});

        EXPECT_GT(found.high_s / found.low_s, last);
        last = found.high_s / found.low_s;
    }
}

TEST(PredictFromReference, ASerialRemainderGainsNothingFromMoreCores)
{
    // Probes use all cores: on two of the same speed they take half.
    const std::vector one{measured("trigonometric", 1e6, 0.02)};
    const std::vector two{measured("trigonometric", 1e6, 0.01)};
    const std::vector job{demand("trigonometric", 1e6, 1, "compute")};
    ReferenceRun reference = run_on(two, 6);
    reference.units.cores = 2;

    reference.parallelism = 1;
    EXPECT_NEAR(predict_from_reference(job, reference, {.operators = one, .cores = 1}).run_s, 6, 1e-9);
    reference.parallelism = 2;
    EXPECT_NEAR(predict_from_reference(job, reference, {.operators = one, .cores = 1}).run_s, 12, 1e-9);
    reference.parallelism = 4.0 / 3; // Amdahl: half is serial, so one core takes 4/3 of the time of two
    EXPECT_NEAR(predict_from_reference(job, reference, {.operators = one, .cores = 1}).run_s, 8, 1e-9);
}

TEST(PredictFromReference, WhatTheProgramDoesSeriallyIsTakenFromProbesWithOneThread)
{
    const std::vector before{measured("fft3d", 1e6, 0.02)};
    const std::vector two_cores{measured("fft3d", 1e6, 0.01)};
    const std::vector one_core{measured("fft3d", 1e6, 0.03)};
    std::vector job{demand("fft3d", 1e6, 1)};
    const UnitMeasurements there{.operators = two_cores, .cores = 2, .one_core = one_core};

    EXPECT_NEAR(predict_from_reference(job, run_on(before, 1), there).run_s, 0.5, 1e-9);
    job[0].is_serial = true;
    EXPECT_NEAR(predict_from_reference(job, run_on(before, 1), there).run_s, 1.5, 1e-9);
}

TEST(PredictFromReference, WhatOnlyResemblesItsOperatorLiesBetweenItAndTheCore)
{
    const std::vector before{measured("dgemm", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const std::vector there{measured("dgemm", 1e6, 4), measured("trigonometric", 1e6, 1)};
    std::vector job{demand("dgemm", 1e6, 0.5), demand("trigonometric", 1e6, 0.5, "compute")};
    job[0].similarity = 0.5;

    const RunPrediction found = predict_from_reference(job, run_on(before, 2), {.operators = there});

    EXPECT_NEAR(found.operators[0].total_s, 2, 1e-9); // the root of four, in the middle of the logarithms
}

TEST(PredictFromReference, ALibraryMayDivideWhatOfItsRoutinesIsUnlikeTheOperator)
{
    // Four cores as fast as the one before. What the program computes itself is serial.
    const std::vector before{measured("dgemm", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const std::vector all_cores{measured("dgemm", 1e6, 0.25), measured("trigonometric", 1e6, 0.25)};
    const std::vector one_core{measured("dgemm", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const UnitMeasurements there{.operators = all_cores, .cores = 4, .one_core = one_core};
    std::vector job{demand("dgemm", 1e6, 0.5), demand("trigonometric", 1e6, 0.5, "compute")};
    const RunPrediction alike = predict_from_reference(job, run_on(before, 2), there);
    job[0].similarity = 0.5;

    const RunPrediction found = predict_from_reference(job, run_on(before, 2), there);

    EXPECT_NEAR(alike.operators[0].total_s, 0.25, 1e-9);
    // Half of the logarithm is the operator's, ln 4; of the other half nothing to all: 4^-0.75.
    EXPECT_NEAR(found.operators[0].total_s, std::pow(4, -0.75), 1e-9);
    EXPECT_NEAR(found.operators[1].total_s, 1, 1e-9) << "the program's own";
    // It may be half as much, a root of 4 / 12, and the way to the core in general is in doubt: a quarter of ln 2.
    const double deviation = std::hypot(0.5 * std::log(4) / std::sqrt(12), 0.25 * std::log(2));
    EXPECT_NEAR(std::log(found.operators[0].high_s / found.operators[0].total_s), kWidthOf80Percent * deviation, 1e-5);

    // Where library routines are program threads' work, these decide.
    job[0].is_serial = true;
    EXPECT_NEAR(predict_from_reference(job, run_on(before, 2), there).operators[0].total_s, 1, 1e-9);
}

TEST(PredictFromReference, FilesAreNoLibrarysThreadsWork)
{
    const std::vector before{measured("file_read", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const std::vector all_cores{measured("file_read", 1e6, 1), measured("trigonometric", 1e6, 0.25)};
    const UnitMeasurements there{.operators = all_cores, .cores = 4, .one_core = before};
    std::vector job{demand("file_read", 1e6, 0.5, "io"), demand("trigonometric", 1e6, 0.5, "compute")};
    job[0].similarity = 0.5;

    EXPECT_NEAR(predict_from_reference(job, run_on(before, 2), there).operators[0].total_s, 1, 1e-9);
}

TEST(PredictFromReference, OnAsManyCoresALibrarysThreadsChangeNothing)
{
    const std::vector before{measured("dgemm", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const std::vector there{measured("dgemm", 1e6, 4), measured("trigonometric", 1e6, 1)};
    std::vector job{demand("dgemm", 1e6, 0.5), demand("trigonometric", 1e6, 0.5, "compute")};
    job[0].similarity = 0.5;
    ReferenceRun reference = run_on(before, 2);
    reference.units.cores = 2;
    reference.units.one_core = before;

    const RunPrediction found =
        predict_from_reference(job, reference, {.operators = there, .cores = 2, .one_core = there});

    EXPECT_NEAR(found.operators[0].total_s, 2, 1e-9);
}

TEST(PredictFromReference, TheLessALoopIsLikeItsOperatorTheWiderTheInterval)
{
    const std::vector before{measured("sort", 1e6, 1)};
    const std::vector there{measured("sort", 1e6, 2)};
    std::vector job{demand("sort", 1e6, 1, "compute")};
    const RunPrediction sure = predict_from_reference(job, run_on(before, 1), {.operators = there});
    job[0].similarity = 0.7;

    const RunPrediction doubted = predict_from_reference(job, run_on(before, 1), {.operators = there});

    EXPECT_NEAR(doubted.run_s, sure.run_s, 1e-9);
    EXPECT_LT(doubted.low_s, sure.low_s);
    EXPECT_GT(doubted.high_s, sure.high_s);
}

TEST(PredictFromReference, TheCoreInGeneralIsWhatIsLikeNoOperator)
{
    const std::vector before{measured("dgemm", 1e6, 1), measured("sort", 1e6, 1), measured("trigonometric", 1e6, 1)};
    const std::vector there{measured("dgemm", 1e6, 4), measured("sort", 1e6, 9), measured("trigonometric", 1e6, 1)};
    std::vector job{demand("dgemm", 1e6, 0.5), demand("sort", 1e6, 0.25, "compute"),
                    demand("trigonometric", 1e6, 0.25, "compute")};
    job[0].similarity = 0.5;
    job[1].similarity = 0.8;

    const RunPrediction found = predict_from_reference(job, run_on(before, 2), {.operators = there});

    EXPECT_NEAR(found.operators[0].total_s, 2, 1e-9); // between dgemm and the sines
}

TEST(PredictFromReference, SaysWhatWasNotMeasuredAndScalesItLikeTheRest)
{
    const std::vector before{measured("dgemm", 1e6, 0.01)};
    const std::vector there{measured("dgemm", 1e6, 0.02)};
    const std::vector job{demand("dgemm", 1e6, 0.7), demand("spmv", 1e6, 0.3)};

    const RunPrediction found = predict_from_reference(job, run_on(before, 1), {.operators = there});

    EXPECT_NEAR(found.run_s, 2, 1e-9);
    EXPECT_EQ(found.estimated_operators, 1);
    EXPECT_NEAR(found.unknown_share, 0.3, 1e-12);
    EXPECT_EQ(found.operators[1].basis, PredictionBasis::kUnknown);
}

TEST(PredictFromReference, TheOrderOfMeasurementsDoesNotMatter)
{
    const std::vector before{measured("dgemm", 1e5, 1), measured("dgemm", 1e7, 2), measured("dgemm", 1e9, 3)};
    const std::vector there{measured("dgemm", 1e9, 5), measured("dgemm", 1e5, 2), measured("dgemm", 1e7, 9)};
    const std::vector other{there[2], there[0], there[1]};
    const std::vector job{demand("dgemm", 3e6, 1)};

    EXPECT_DOUBLE_EQ(predict_from_reference(job, run_on(before, 1), {.operators = there}).run_s,
                     predict_from_reference(job, run_on(before, 1), {.operators = other}).run_s);
}

} // namespace
} // namespace fathom
