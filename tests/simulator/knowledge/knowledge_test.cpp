#include "simulator/knowledge/knowledge_nominal.hpp"
#include "tests/simulator/knowledge/known.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kDay_s = 86400;
struct Moments {
    double mean{};
    double deviation{};
};
Moments moments_of(const std::vector<double>& values)
{
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
        sum += value;
        squares += value * value;
    }
    const auto count = static_cast<double>(values.size());
    return {sum / count, std::sqrt(squares / count - sum * sum / (count * count))};
}

TEST(PerfectKnowledge, IsTheTruthAsItIsNow)
{
    KnowledgeSettings settings; // with all its noise
    settings.drift_per_day = 0.3;
    Known known(KnowledgeKind::kPerfect, scenario_of(1, settings));

    known->advance(0);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 0, 1), 100);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50);
    const std::uint64_t before = known->version();

    known->advance(5 * kDay_s);
    EXPECT_NE(known->version(), before);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50 / known.truth().drift(0, 1, 5 * kDay_s));
    EXPECT_NE(known->expected_s(0, 1, 1), 50);
}

TEST(PerfectKnowledge, StaysTheSameWithoutDrift)
{
    Known known(KnowledgeKind::kPerfect, scenario_of(1, {}));
    known->advance(50 * kDay_s);
    EXPECT_EQ(known->version(), 0U);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50);
}

TEST(NominalKnowledge, ComparesPeaks)
{
    Scenario scenario = scenario_of(1, exact());
    EXPECT_THAT(relative_peaks(scenario.network), testing::ElementsAre(0.25, 1.25));
    scenario.workload.jobs[0].estimate_s = 200; // its user takes it for longer than it is
    Known known(KnowledgeKind::kNominal, std::move(scenario));
    EXPECT_DOUBLE_EQ(known->expected_s(0, 0, 1), 800);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 160);
}

TEST(NominalKnowledge, HasNothingToCompareWithoutSheets)
{
    Scenario scenario = scenario_of(1, exact());
    scenario.network.unit_types[1].peak_flops = 0;
    EXPECT_THAT(relative_peaks(scenario.network), testing::ElementsAre(1, 1));
    scenario.network.unit_types[0].peak_flops = 0;
    EXPECT_THAT(relative_peaks(scenario.network), testing::ElementsAre(1, 1));
}

TEST(NominalKnowledge, TakesSpeedupsForLinear)
{
    Scenario scenario = scenario_of(3, exact());
    scenario.network.job_types = {
        {"of its count", Scaling::kFixed}, {"linear", Scaling::kLinear}, {"table", Scaling::kTable}};
    for (UnitType& type : scenario.network.unit_types)
        type.rates = {{1, {}}, {1, {}}, {1, {{4, 1.5}}}};
    for (std::uint32_t job = 0; job < 3; ++job)
        scenario.workload.jobs[job].job_type = job;
    Known known(KnowledgeKind::kNominal, std::move(scenario));
    EXPECT_DOUBLE_EQ(known->expected_s(0, 0, 4), 400);
    EXPECT_DOUBLE_EQ(known->expected_s(1, 0, 4), 100);
    EXPECT_DOUBLE_EQ(known->expected_s(2, 0, 4), 100);
}

TEST(NominalKnowledge, KnowsWorkWithoutEstimateRoughly)
{
    Known known(KnowledgeKind::kNominal, scenario_of(5000, {.job_noise = 0.3}));
    std::vector<double> errors;
    for (std::size_t job = 0; job < 5000; ++job)
        errors.push_back(std::log(known->expected_s(job, 0, 1) / 400));
    EXPECT_NEAR(moments_of(errors).mean, 0, 0.015);
    EXPECT_NEAR(moments_of(errors).deviation, 0.3, 0.01);
}

TEST(MeasuredKnowledge, IsTheTruthWithoutErrors)
{
    Known known(KnowledgeKind::kMeasured, scenario_of(1, exact()));
    EXPECT_DOUBLE_EQ(known->expected_s(0, 0, 1), 100);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50);
    EXPECT_EQ(known->measurements(), 2);
}

TEST(MeasuredKnowledge, JobsAreOffAsStated)
{
    KnowledgeSettings settings = exact();
    settings.job_noise = 0.2;
    Known known(KnowledgeKind::kMeasured, scenario_of(5000, settings));
    std::vector<double> errors;
    for (std::size_t job = 0; job < 5000; ++job) {
        errors.push_back(std::log(known->expected_s(job, 0, 1) / 100));
        EXPECT_DOUBLE_EQ(known->expected_s(job, 1, 1) * 2, known->expected_s(job, 0, 1)); // the job's, not the place's
    }
    EXPECT_NEAR(moments_of(errors).mean, 0, 0.01);
    EXPECT_NEAR(moments_of(errors).deviation, 0.2, 0.007);
}

TEST(MeasuredKnowledge, MeasurementsAreOffAsStatedEachByItself)
{
    KnowledgeSettings settings = exact();
    settings.measurement_noise = 0.1;
    settings.measure_every_s = kDay_s;
    Known known(KnowledgeKind::kMeasured, scenario_of(1, settings));
    std::vector<double> errors;
    for (int day = 1; day <= 4000; ++day) {
        known->advance(day * kDay_s);
        errors.push_back(std::log(known->expected_s(0, 0, 1) / 100));
    }
    EXPECT_NEAR(moments_of(errors).mean, 0, 0.006);
    EXPECT_NEAR(moments_of(errors).deviation, 0.1, 0.004);
    EXPECT_EQ(known->measurements(), 2 + 2 * 4000);
}

TEST(MeasuredKnowledge, UnitTypesAreMeasuredAtTimesOfTheirOwn)
{
    KnowledgeSettings settings;
    settings.measure_every_s = kDay_s;
    Known known(KnowledgeKind::kMeasured, scenario_of(1, settings));
    std::int64_t most_at_once = 0;
    for (double now_s = 600; now_s <= kDay_s; now_s += 600) {
        const std::int64_t before = known->measurements();
        const std::uint64_t version = known->version();
        const double expected_s = known->expected_s(0, 0, 1);
        known->advance(now_s);
        most_at_once = std::max(most_at_once, known->measurements() - before);
        EXPECT_EQ(known->version() == version, known->measurements() == before);
        if (known->version() == version) EXPECT_EQ(known->expected_s(0, 0, 1), expected_s);
    }
    EXPECT_EQ(known->measurements(), 4);
    EXPECT_EQ(most_at_once, 1);
}

TEST(MeasuredKnowledge, KnowsRatesAsTheyWereWhenMeasured)
{
    KnowledgeSettings settings = exact();
    settings.drift_per_day = 0.2;
    settings.measure_every_s = 3 * kDay_s;
    Known known(KnowledgeKind::kMeasured, scenario_of(1, settings));
    double measured_s = 0;
    for (double now_s = 1800; now_s <= 9 * kDay_s; now_s += 3600) {
        const double before_s = known->expected_s(0, 0, 1);
        known->advance(now_s);
        if (known->expected_s(0, 0, 1) != before_s) measured_s = now_s;
        // Its moment is up to an hour before; rates wander at full hours.
        const double then_s = 100 / known.truth().drift(0, 0, measured_s);
        const double earlier_s = 100 / known.truth().drift(0, 0, std::max(measured_s - 3600, 0.0));
        EXPECT_THAT(known->expected_s(0, 0, 1),
                    testing::AnyOf(testing::DoubleEq(then_s), testing::DoubleEq(earlier_s)));
    }
    EXPECT_GT(measured_s, 6 * kDay_s);
}

TEST(MeasuredKnowledge, TrustsEstimatesWhenTold)
{
    KnowledgeSettings settings = exact();
    settings.job_noise = 0.5;
    settings.trusts_estimates = true;
    Scenario scenario = scenario_of(2, settings);
    scenario.workload.jobs[0].estimate_s = 300;
    Known known(KnowledgeKind::kMeasured, std::move(scenario));
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 150);
    EXPECT_NE(known->expected_s(1, 1, 1), 50); // no estimate: by its profile
}

TEST(MeasuredKnowledge, LearnsWhatEachUserTakesOfTheTimeAskedFor)
{
    KnowledgeSettings settings = exact();
    settings.trusts_estimates = true;
    Scenario scenario = scenario_of(202, settings);
    scenario.workload.users = {"ann", "bob"};
    for (std::size_t job = 0; job < 202; ++job) {
        scenario.workload.jobs[job].user =
            static_cast<std::uint32_t>(job % 2); // ann asks for five times of what she needs, bob for a tenth more
        scenario.workload.jobs[job].estimate_s = job % 2 == 0 ? 500 : 110;
    }
    Known known(KnowledgeKind::kMeasured, std::move(scenario));
    EXPECT_DOUBLE_EQ(known->expected_s(200, 0, 1), 500);
    for (std::size_t job = 0; job < 200; ++job) {
        const double now_s = 600.0 * static_cast<double>(job + 1);
        known.run(job, job / 2 % 2, 1, now_s);
        known->advance(now_s);
    }

    EXPECT_NEAR(known->expected_s(200, 0, 1), 100, 25);
    EXPECT_NEAR(known->expected_s(201, 0, 1), 100, 25);
    EXPECT_NEAR(known->expected_s(200, 1, 1), 50, 13) << "unit type b is twice as fast";
}

TEST(MeasuredKnowledge, LearningBringsABiasedUnitTypeBack)
{
    KnowledgeSettings settings = exact();
    settings.job_noise = 0.1;
    Known known(KnowledgeKind::kMeasured, scenario_of(200, settings));
    for (std::size_t job = 0; job < 100; ++job) {
        known.run(job, 0, 1, 600.0 * static_cast<double>(job + 1)); // as it should be
        known.run(job, 1, 2, 600.0 * static_cast<double>(job + 1)); // twice as long as the measurement says
        known->advance(600.0 * static_cast<double>(job + 1));
    }
    std::vector<double> ratios_of_a;
    std::vector<double> ratios_of_b;
    for (std::size_t job = 100; job < 200; ++job) {
        ratios_of_a.push_back(std::log(known->expected_s(job, 0, 1) / 100));
        ratios_of_b.push_back(std::log(known->expected_s(job, 1, 1) / (2 * 50)));
    }
    EXPECT_NEAR(std::exp(moments_of(ratios_of_a).mean), 1, 0.1);
    EXPECT_NEAR(std::exp(moments_of(ratios_of_b).mean), 1, 0.1);
}

TEST(MeasuredKnowledge, LearnsAtItsTimesOnly)
{
    KnowledgeSettings settings = exact();
    Known known(KnowledgeKind::kMeasured, scenario_of(20, settings));
    const std::uint64_t before = known->version();
    for (std::size_t job = 0; job < 20; ++job)
        known.run(job, 1, 2, 1000);
    known->advance(3599);
    EXPECT_EQ(known->version(), before);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50);
    known->advance(3600);
    EXPECT_NE(known->version(), before);
    EXPECT_GT(known->expected_s(0, 1, 1), 70);

    const std::uint64_t learned = known->version();
    known->advance(7200); // nothing new
    EXPECT_EQ(known->version(), learned);
}

TEST(MeasuredKnowledge, LearnsNothingOfASlowdownThatWasExpected)
{
    Known known(KnowledgeKind::kMeasured, scenario_of(20, exact()));
    for (std::size_t job = 0; job < 20; ++job)
        known.run(job, 1, 2, 1000, 2);
    known->advance(3600);
    EXPECT_NEAR(known->expected_s(0, 1, 1), 50, 1);
}

TEST(MeasuredKnowledge, LearnsNothingWhenToldNotTo)
{
    KnowledgeSettings settings = exact();
    settings.learns = false;
    Known known(KnowledgeKind::kMeasured, scenario_of(100, settings));
    for (std::size_t job = 0; job < 100; ++job)
        known.run(job, 1, 2, 1000);
    known->advance(kDay_s);
    EXPECT_DOUBLE_EQ(known->expected_s(0, 1, 1), 50);
    EXPECT_EQ(known->measurements(), 2);
}

TEST(MeasuredKnowledge, DriftIsMeasuredAgain)
{
    Known known(KnowledgeKind::kMeasured, scenario_of(200, exact()));
    const auto run_twenty = [&](std::size_t first, double factor_of_b, double from_s) {
        for (std::size_t job = first; job < first + 20; ++job) {
            const double wobble = 1 + 0.01 * static_cast<double>(job % 5);
            const double now_s = from_s + 200 * static_cast<double>(job - first + 1);
            known->advance(now_s);
            known.run(job, 0, wobble, now_s);
            known.run(job, 1, wobble * factor_of_b, now_s);
        }
    };
    run_twenty(0, 1, 0);
    run_twenty(20, 1, 7200);
    known->advance(14400);
    EXPECT_EQ(known->measurements(), 2);

    run_twenty(40, 1.5, 14400); // b has become slower
    known->advance(21600);
    EXPECT_EQ(known->measurements(), 3);
}

TEST(Knowledge, SameSeedSameAnswers)
{
    KnowledgeSettings settings;
    settings.drift_per_day = 0.1;
    for (const KnowledgeKind kind : {KnowledgeKind::kMeasured, KnowledgeKind::kPerfect, KnowledgeKind::kNominal}) {
        Known one(kind, scenario_of(10, settings));
        Known other(kind, scenario_of(10, settings));
        for (std::size_t job = 0; job < 10; ++job) {
            // In another order, and asked more often.
            one->advance(kDay_s * static_cast<double>(job));
            other->advance(kDay_s * static_cast<double>(job));
            const double a_s = one->expected_s(job, 0, 1);
            const double b_s = one->expected_s(job, 1, 1);
            other->expected_s(9 - job, 1, 1);
            EXPECT_EQ(other->expected_s(job, 1, 1), b_s);
            EXPECT_EQ(other->expected_s(job, 0, 1), a_s);
        }
    }
}

TEST(MeasuredKnowledge, WhatCannotRunIsNotMeasured)
{
    Scenario scenario = scenario_of(1, {});
    scenario.network.unit_types[1].rates[0].rate = 0;
    Known known(KnowledgeKind::kMeasured, std::move(scenario));
    EXPECT_EQ(known->measurements(), 1);
    EXPECT_EQ(known->expected_s(0, 1, 1), kNever);
}

} // namespace
} // namespace fathom::simulation
