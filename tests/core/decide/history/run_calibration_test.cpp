#include "core/decide/history/run_calibration.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kBegin{std::chrono::sys_days{std::chrono::year{2026} / 9 / 1}};

/// How jobs, measurements and what measurements say of themselves differ.
struct World {
    const char* name;
    double noise;           ///< from run to run
    double measured;        ///< of the measurements from the truth
    double claimed;         ///< what their intervals admit of that
    int jobs_a_measurement; ///< until measured anew
    double unit_effect = 0.15;
    double type_effect = 0.3;
};

struct Outcome {
    double within{};
    double late_within{}; ///< of the second half
    double median_ratio{};
};

constexpr int kJobs = 2000;
constexpr int kTypes = 8;
constexpr int kUnits = 5;

/// One value for each job type on each unit type.
template <class Value>
using OfEach = std::array<std::array<Value, kUnits>, kTypes>;

/// What a world has drawn before its first job, and what it draws from.
struct Draws {
    Draws(const World& world, unsigned seed) : random(seed)
    {
        for (auto& of_type : jobs) {
            for (int& done : of_type) // not all are measured anew at the same time
                done = static_cast<int>(random() % static_cast<unsigned>(world.jobs_a_measurement));
        }
        for (auto& of_measurements : measurement) {
            for (double& error : of_measurements)
                error = world.measured * normal(random);
        }
        for (auto& of_type : effects) {
            const double type_effect = world.type_effect * normal(random);
            for (double& effect : of_type)
                effect = type_effect + world.unit_effect * normal(random);
        }
    }

    std::mt19937_64 random;
    std::normal_distribution<double> normal;
    OfEach<double> effects{};
    OfEach<double> measurement{};
    OfEach<int> jobs{};
};

/// 2 000 jobs one after another: predicted, corrected by what had run before, run, learned.
Outcome live_through(const World& world, unsigned seed)
{
    Draws draws(world, seed);
    auto& [random, normal, effects, measurement, jobs] = draws;
    std::vector<PastRun> runs;
    RunHistory history;
    int within = 0;
    int late = 0;
    std::vector<double> ratios;
    for (int i = 0; i < kJobs; ++i) {
        const Timestamp now = kBegin + i * 30min;
        if (i % 10 == 0) history = RunHistory(runs, now);
        const std::size_t type = random() % kTypes;
        const std::size_t unit = random() % kUnits;
        if (jobs[type][unit]++ % world.jobs_a_measurement == 0)
            measurement[type][unit] = world.measured * normal(random);
        const double truth_s = 100 * std::exp(0.5 * normal(random));
        PastRun run;
        run.job_type = "t" + std::to_string(type);
        run.unit_type = "u" + std::to_string(unit);
        run.raw_s = truth_s * std::exp(measurement[type][unit]);
        run.raw_low_s = run.raw_s * std::exp(-kWidthOf80Percent * world.claimed);
        run.raw_high_s = run.raw_s * std::exp(kWidthOf80Percent * world.claimed);
        const RunCorrection correction = history.correction(run.job_type, run.unit_type);
        const RunTime time = corrected({run.raw_s, run.raw_low_s, run.raw_high_s}, correction, correction.width_factor);
        run.predicted_s = time.run_s;
        run.low_s = time.low_s;
        run.high_s = time.high_s;
        run.width_factor = correction.width_factor;
        run.actual_s = truth_s * std::exp(effects[type][unit] + world.noise * normal(random));
        run.ended_at = now;
        if (run.actual_s >= run.low_s && run.actual_s <= run.high_s) {
            ++within;
            if (i >= kJobs / 2) ++late;
        }
        if (i >= kJobs / 2) ratios.push_back(std::log(run.actual_s / run.predicted_s));
        runs.push_back(std::move(run));
    }
    std::sort(ratios.begin(), ratios.end());
    return {static_cast<double>(within) / kJobs, static_cast<double>(late) / (kJobs / 2.0),
            std::exp(ratios[ratios.size() / 2])};
}

class CalibrationTest : public testing::TestWithParam<World> {};

TEST_P(CalibrationTest, EightyOfAHundredActualTimesAreWithinTheInterval)
{
    double within = 0;
    double late = 0;
    for (const unsigned seed : {1U, 2U, 3U}) {
        const Outcome outcome = live_through(GetParam(), seed);
        EXPECT_GE(outcome.within, 0.75) << "seed " << seed;
        EXPECT_LE(outcome.within, 0.85) << "seed " << seed;
        EXPECT_GE(outcome.late_within, 0.75) << "seed " << seed;
        EXPECT_LE(outcome.late_within, 0.85) << "seed " << seed;
        EXPECT_NEAR(outcome.median_ratio, 1, 0.03 + 0.05 * GetParam().noise) << "seed " << seed;
        within += outcome.within / 3;
        late += outcome.late_within / 3;
    }
    std::printf("%-24s %.1f %% within, of the second half %.1f %%\n", GetParam().name, 100 * within, 100 * late);
}

INSTANTIATE_TEST_SUITE_P(Worlds, CalibrationTest,
                         testing::Values(World{"calm", 0.03, 0.03, 0.03, 1}, World{"usual", 0.1, 0.05, 0.05, 20},
                                         World{"wild", 0.4, 0.1, 0.1, 20},
                                         World{"understated_each_job", 0.05, 0.15, 0.05, 1},
                                         World{"overstated_each_job", 0.05, 0.1, 0.3, 1},
                                         World{"understated_for_long", 0.05, 0.15, 0.05, 40},
                                         World{"overstated_for_long", 0.05, 0.1, 0.3, 40},
                                         World{"raw_predictions_far_off", 0.1, 0.05, 0.05, 20, 0.5, 1}),
                         [](const testing::TestParamInfo<World>& one) { return std::string(one.param.name); });

PastRun predicted_run(double predicted_s, double half_width, double actual_s)
{
    PastRun run;
    run.job_type = "scf";
    run.unit_type = "u1";
    run.raw_s = predicted_s;
    run.predicted_s = predicted_s;
    run.low_s = predicted_s * std::exp(-half_width);
    run.high_s = predicted_s * std::exp(half_width);
    run.actual_s = actual_s;
    run.ended_at = kBegin;
    return run;
}

TEST(Calibrate, CountsWhatFellInsideBelowAndAbove)
{
    std::vector<PastRun> runs;
    for (const double actual_s : {8.0, 9.5, 10.0, 10.5, 20.0})
        runs.push_back(predicted_run(10, 0.1, actual_s));
    runs.push_back(predicted_run(0, 0, 5)); // nothing was predicted
    const RunCalibrations found = calibrate(runs, kBegin);

    EXPECT_EQ(found.all.job_count, 5);
    EXPECT_DOUBLE_EQ(found.all.within_share, 0.6);
    EXPECT_DOUBLE_EQ(found.all.below_share, 0.2);
    EXPECT_DOUBLE_EQ(found.all.above_share, 0.2);
    EXPECT_DOUBLE_EQ(found.all.median_ratio, 1);
    EXPECT_NEAR(found.all.median_error, 0.05, 1e-9);
    EXPECT_EQ(found.all.width_factor, 1) << "five runs tell no width";
    EXPECT_EQ(found.by_unit_type.at("u1").job_count, 5);
    EXPECT_EQ(found.by_job_type.at("scf").job_count, 5);
}

TEST(Calibrate, WidthFactorDoesNotSwingWithTheWidthsThatWereUsed)
{
    // The same errors; those with the wider intervals were made with a factor of 3 already.
    std::vector<PastRun> runs;
    for (int i = 0; i < 400; ++i) {
        const double actual_s = 10 * std::exp(0.3 * (i % 2 == 0 ? 1 : -1) * (i % 10) / 8.0);
        PastRun run = predicted_run(10, i < 200 ? 0.1 : 0.3, actual_s);
        if (i >= 200) run.width_factor = 3;
        runs.push_back(run);
    }
    const Calibration found = calibrate(runs, kBegin).all;

    // 80 % of the errors are at most 0.3 · 7/8 = 0.2625 to 0.3 · 8/8: 2.6 to 3 half widths of 0.1.
    EXPECT_GT(found.width_factor, 2.4);
    EXPECT_LT(found.width_factor, 3.01);
}

TEST(Calibrate, WidthFactorStaysWithinItsBounds)
{
    std::vector<PastRun> wild;
    std::vector<PastRun> timid;
    for (int i = 0; i < 5000; ++i) {
        wild.push_back(predicted_run(10, 0.01, i % 2 == 0 ? 100 : 1));
        timid.push_back(predicted_run(10, 1, 10.01));
    }

    EXPECT_NEAR(calibrate(wild, kBegin).all.width_factor, kMaxWidth, 0.1);
    EXPECT_NEAR(calibrate(timid, kBegin).all.width_factor, kMinWidth, 0.01);
}

/// 30 job types, one after the other: the first run of each is off by e^0.3, the second by e^0.05, both with intervals
/// of ±0.1.
std::vector<PastRun> first_and_second_runs(RawBasis basis)
{
    std::vector<PastRun> runs;
    for (int type = 0; type < 30; ++type) {
        for (const double off : {0.3, 0.05}) {
            PastRun run = predicted_run(100, 0.1, 100 * std::exp(off));
            run.job_type = "t" + std::to_string(type);
            run.basis = basis;
            run.ended_at = kBegin + (runs.size() + 1) * 30min;
            runs.push_back(std::move(run));
        }
    }
    return runs;
}

TEST(Calibrate, FirstRunsAndLaterOnesHaveWidthsOfTheirOwn)
{
    const std::vector<PastRun> runs = first_and_second_runs(RawBasis::kReference);
    const RunCalibrations found = calibrate(runs, runs.back().ended_at);

    EXPECT_EQ(found.on(Rung::kReference).all.job_count, 30);
    EXPECT_EQ(found.on(Rung::kReference).all.within_share, 0);
    EXPECT_EQ(found.on(Rung::kRuns).all.job_count, 30);
    EXPECT_EQ(found.on(Rung::kRuns).all.within_share, 1);
    // Off by 3 half widths and by half of one, held towards what is usual of all as if ten runs had said so.
    EXPECT_GT(found.on(Rung::kReference).width_factor("u1"), 2.5);
    EXPECT_LT(found.on(Rung::kReference).width_factor("u1"), 3);
    EXPECT_LT(found.on(Rung::kRuns).width_factor("u1"), 0.7);
    EXPECT_GT(found.on(Rung::kRuns).width_factor("u1"), 0.5);
}

TEST(Calibrate, WithoutRunsOfItsOwnARungHasTheWidthOfAllAndAUnitTypeThatOfItsRung)
{
    const std::vector<PastRun> runs = first_and_second_runs(RawBasis::kReference);
    const RunCalibrations found = calibrate(runs, runs.back().ended_at);

    EXPECT_EQ(found.on(Rung::kOperators).all.job_count, 0);
    EXPECT_NEAR(found.on(Rung::kOperators).width_factor("u1"), found.all.width_factor, 1e-12);
    const RunCalibrations for_predictions = calibrate_rungs(runs, runs.back().ended_at);
    EXPECT_EQ(for_predictions.on(Rung::kReference).width_factor("u1"), found.on(Rung::kReference).width_factor("u1"));
    const RungCalibration& later = found.on(Rung::kRuns);
    EXPECT_EQ(later.width_factor("u2"), later.all.width_factor);
}

TEST(Calibrate, RunsThatWentAtTheSameTimeWereAllPredictedWithoutTheOthers)
{
    std::vector<PastRun> runs(5, predicted_run(100, 0.1, 100));
    for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].ended_at = kBegin + i * 10s;
    PastRun after = predicted_run(100, 0.1, 100);
    after.ended_at = kBegin + 100s;
    runs.push_back(after);

    const RunCalibrations found = calibrate(runs, kBegin + 1h);

    EXPECT_EQ(found.on(Rung::kOperators).all.job_count, 5);
    EXPECT_EQ(found.on(Rung::kRuns).all.job_count, 1) << "it began when the first had ended";
}

TEST(Calibrate, RunsThatWereDecidedOnTogetherRestOnNoneOfEachOtherAlsoIfSomeWait)
{
    std::vector<PastRun> runs(5, predicted_run(100, 0.1, 100));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].decided_at = kBegin;
        runs[i].ended_at = kBegin + (i + 1) * 100s; // one after another
    }
    PastRun after = runs.back();
    after.decided_at = kBegin + 100s;
    runs.push_back(after);

    const RunCalibrations found = calibrate(runs, kBegin + 1h);

    EXPECT_EQ(found.on(Rung::kOperators).all.job_count, 5);
    EXPECT_EQ(found.on(Rung::kRuns).all.job_count, 1) << "it was decided on when the first had ended";
}

TEST(Calibrate, OthersRunsAreNoneOfTheTypeUnlessTheirProjectIsTheSame)
{
    const auto runs_of_two = [](const std::string& project) {
        std::vector<PastRun> runs(3, predicted_run(100, 0.1, 100));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i].owner = i == 0 ? "ada" : "bob";
            runs[i].project = project;
            runs[i].ended_at = kBegin + i * 1h;
        }
        return calibrate(runs, kBegin + 4h);
    };

    EXPECT_EQ(runs_of_two("").on(Rung::kOperators).all.job_count, 2) << "the first run of each";
    EXPECT_EQ(runs_of_two("").on(Rung::kRuns).all.job_count, 1);
    EXPECT_EQ(runs_of_two("physics").on(Rung::kOperators).all.job_count, 1);
    EXPECT_EQ(runs_of_two("physics").on(Rung::kRuns).all.job_count, 2);
}

TEST(Calibrate, WhoHasRunTheTypeElsewhereRestsOnThatAndNotOnTheProject)
{
    std::vector<PastRun> runs(3, predicted_run(100, 0.1, 100));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].owner = i == 0 ? "ada" : "bob";
        runs[i].project = "physics";
        runs[i].ended_at = kBegin + i * 1h;
    }
    runs[1].unit_type = "u2";

    const RunCalibrations found = calibrate(runs, kBegin + 4h);

    EXPECT_EQ(found.on(Rung::kOperators).all.job_count, 3);
    EXPECT_EQ(found.on(Rung::kRuns).all.job_count, 0);
}

/// Where intervals admit 0.06, first runs are off by 0.12 and later ones by 0.03: 60 types at four places, three runs
/// each.
TEST(Calibrate, IntervalsHoldOnEachRung)
{
    constexpr double kClaimed = 0.06;
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<PastRun> runs;
    RunCalibrations calibrations;
    std::array<int, 2> within{}; // of first runs, of later ones
    for (int i = 0; i < 60 * 4 * 3; ++i) {
        const bool is_first = i % 3 == 0;
        const Timestamp now = kBegin + i * 10min;
        if (i % 12 == 0) calibrations = calibrate(runs, now);
        const std::string unit_type = "u" + std::to_string(i / 3 % 4);
        const Rung rung = is_first ? Rung::kReference : Rung::kRuns;
        const double width_factor = calibrations.on(rung).width_factor(unit_type);
        const double actual_s = 100 * std::exp((is_first ? 0.12 : 0.03) * normal(random));
        PastRun run = predicted_run(100, kWidthOf80Percent * kClaimed * width_factor, actual_s);
        run.job_type = "t" + std::to_string(i / 12);
        run.unit_type = unit_type;
        run.basis = RawBasis::kReference;
        run.width_factor = width_factor;
        run.ended_at = now;
        if (run.actual_s >= run.low_s && run.actual_s <= run.high_s) ++within[is_first ? 0 : 1];
        runs.push_back(std::move(run));
    }

    EXPECT_GT(within[0] / 240.0, 0.68);
    EXPECT_LT(within[0] / 240.0, 0.85);
    EXPECT_GT(within[1] / 480.0, 0.75);
    EXPECT_LT(within[1] / 480.0, 0.88);
}

TEST(RunHistory, WidensByWhatAPredictionRestsOn)
{
    const std::vector<PastRun> runs = first_and_second_runs(RawBasis::kOperators);
    const RunHistory history(runs, runs.back().ended_at);

    EXPECT_GT(history.correction("never_ran", "u1").width_factor, 2.5);
    EXPECT_GT(history.correction("t0", "u2").width_factor, 2.5) << "no run of the type there";
    EXPECT_LT(history.correction("t0", "u1").width_factor, 0.7);
}

} // namespace
} // namespace fathom
