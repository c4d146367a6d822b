#include "core/decide/prediction/predict_run.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "tests/core/decide/history/past_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <utility>

/// How far runs of a job's type correct what is predicted for the job.
namespace fathom {
namespace {

using namespace std::chrono_literals;
using test::kNow;
using test::make_run;

/// A raw prediction for a job that does what its type does.
class OfType {
  public:
    explicit OfType(double raw_s, double width = 1.05) : run_({raw_s, raw_s / width, raw_s * width}, {}) {}
    RawPrediction raw() const { return {RawBasis::kReference, false, &run_}; }
    RunTime predict(const RunHistory& history, const std::string& unit_type) const
    {
        const RunCorrection correction = history.correction("scf", unit_type, {}, raw());
        return corrected(run_.at(1), correction, correction.width_factor);
    }

  private:
    DividedRun run_;
};

PastRun reference_run(const std::string& unit_type, double raw_s, double actual_s)
{
    PastRun run = make_run("scf", unit_type, raw_s, actual_s);
    run.basis = RawBasis::kReference;
    return run;
}

TEST(RunHistory, TheLastRunOfATypeThereIsBelievedAtOnce)
{
    // Raw prediction 7.6, took 4.05: what stayed at 7.6, 5.9, 5.8 when corrections moved by a fifth of the way.
    const std::vector<PastRun> runs{reference_run("u1", 7.6, 4.05)};
    const RunHistory history(runs, kNow);
    const RunCorrection correction = history.correction("scf", "u1", {}, OfType(7.6).raw());
    const RunTime next = OfType(7.6).predict(history, "u1");

    EXPECT_GE(correction.own_share, 0.8);
    EXPECT_EQ(correction.job_count, 1);
    EXPECT_NEAR(next.run_s, 4.05, 0.1) << "so far off, the runs count for nearly all";
    EXPECT_LT(next.high_s / next.run_s, 1.2) << "of the raw prediction's own interval little is left";
}

TEST(RunHistory, TwoRunsThatAgreeAreBelievedHoweverFarTheRawPredictionIsOff)
{
    std::vector<PastRun> runs{reference_run("u1", 648, 2.9)};
    EXPECT_NEAR(OfType(648).predict(RunHistory(runs, kNow), "u1").run_s, 648.0 / 4, 10)
        << "one may have been given something else to do";

    runs.push_back(reference_run("u1", 648, 3.0));
    EXPECT_NEAR(OfType(648).predict(RunHistory(runs, kNow), "u1").run_s, 2.95, 0.1);

    runs.back().actual_s = 300;
    EXPECT_GT(OfType(648).predict(RunHistory(runs, kNow), "u1").run_s, 150) << "these two do not agree";
}

TEST(RunHistory, ARunNearItsRawPredictionWeighsByTheVariances)
{
    const std::vector<PastRun> runs{reference_run("u1", 10, 10.5)};
    const double own = RunHistory(runs, kNow).correction("scf", "u1", {}, OfType(10).raw()).own_share;

    EXPECT_GE(own, 0.8);
    EXPECT_LE(own, 0.94);
}

TEST(RunHistory, WhatRunsOfATypeTookCountsNotWhatWasPredictedThen)
{
    // The raw prediction was another before the units were measured anew; the runs were the same.
    std::vector<PastRun> runs;
    for (const double raw_s : {3.0, 9.0, 30.0, 4.0})
        runs.push_back(reference_run("u1", raw_s, 10));
    const RunHistory history(runs, kNow);

    EXPECT_NEAR(OfType(10).predict(history, "u1").run_s, 10, 0.35);
    EXPECT_NEAR(OfType(12).predict(history, "u1").run_s, 10, 0.35);
}

TEST(RunHistory, AnErrorAtOnePlaceDoesNotRaiseWhatIsPredictedOfAnother)
{
    // Where nothing of the type has run, a known run carried over there stays nearly what it is.
    std::vector<PastRun> runs;
    for (int i = 0; i < 5; ++i)
        runs.push_back(reference_run("two cores", 5, 10));
    const RunHistory history(runs, kNow);
    runs.push_back(reference_run("u1", 8, 8));
    const RunHistory with_own(runs, kNow);

    EXPECT_LT(OfType(8).predict(history, "u1").run_s, 9.1);
    EXPECT_NEAR(OfType(8).predict(with_own, "u1").run_s, 8, 0.12);
}

TEST(RunHistory, RawPredictionsOfAnotherBasisCorrectNothing)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < 10; ++i)
        runs.push_back(make_run("scf", "u1", 10, 30)); // named operators, which leave out two thirds
    const RunHistory history(runs, kNow);

    EXPECT_NEAR(OfType(30).predict(history, "u2").run_s, 30, 1e-9);
    EXPECT_NEAR(RunHistory(runs, kNow).correction("scf", "u2").factor, 2.7, 0.2);
}

TEST(RunHistory, FollowsAPlaceThatHasChanged)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < 12; ++i) {
        runs.push_back(reference_run("u1", 10, i < 9 ? 10 : 12));
        runs.back().ended_at = kNow - 24h + i * 1h;
    }

    EXPECT_NEAR(OfType(10).predict(RunHistory(runs, kNow), "u1").run_s, 11.7, 0.4);
}

TEST(RunHistory, RunsOnOtherNumbersOfUnitsAreDividedByTheRawPrediction)
{
    struct Halved : RunByCount {
        RunTime at(std::int64_t count) const override
        {
            const double run_s = 8 / static_cast<double>(count);
            return {run_s, run_s, run_s};
        }
        std::int64_t largest_known() const override { return 64; }
    };
    const Halved halved;
    const DividedRun run(halved);
    PastRun past = reference_run("u1", 2, 4); // on four units twice as long as predicted
    past.unit_count = 4;
    const RunHistory history(std::vector{past}, kNow);

    EXPECT_GT(history.correction("scf", "u1", {}, {RawBasis::kReference, false, &run}).factor, 1.6);
}

TEST(RunHistory, AProgramWhoseTimeDependsOnWhatItIsGivenIsNotPredictedNarrowly)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < 8; ++i)
        runs.push_back(reference_run("u1", 10, i % 2 == 0 ? 5 : 20));
    for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].ended_at = kNow - 24h + static_cast<int>(i) * 1h;
    const RunTime next = OfType(10).predict(RunHistory(runs, kNow), "u1");

    EXPECT_LT(next.low_s, 6);
    EXPECT_GT(next.high_s, 17);
}

/// Ended one after the other, the last of them an hour ago.
std::vector<PastRun> runs_one_by_one(const std::string& job_type, const std::vector<double>& times_s)
{
    std::vector<PastRun> runs;
    for (const double actual_s : times_s) {
        runs.push_back(reference_run("u1", 10, actual_s));
        runs.back().job_type = job_type;
        runs.back().ended_at = kNow - static_cast<int>(times_s.size()) * 1h + static_cast<int>(runs.size() - 1) * 1h;
    }
    return runs;
}

TEST(RunHistory, AFirstRunThatReadItsFilesDoesNotLengthenTheNext)
{
    // It took a fifth longer for once: by its recency alone it would lengthen what is predicted by 6 %.
    EXPECT_NEAR(OfType(10).predict(RunHistory(runs_one_by_one("scf", {12, 10}), kNow), "u1").run_s, 10, 0.15);
    EXPECT_NEAR(OfType(10).predict(RunHistory(runs_one_by_one("scf", {12, 10, 10}), kNow), "u1").run_s, 10, 0.1);
    EXPECT_GT(OfType(10).predict(RunHistory(runs_one_by_one("scf", {10, 12}), kNow), "u1").run_s, 10.6)
        << "nothing is shorter for being the first";
}

TEST(RunHistory, AFirstRunThatWasALittleLongerCountsAsAnyOther)
{
    const double expected_s = 10 * std::exp(0.9 * 0.6 / 1.6 * std::log(1.01));
    EXPECT_NEAR(OfType(10).predict(RunHistory(runs_one_by_one("scf", {10.1, 10}), kNow), "u1").run_s, expected_s, 0.01);
}

TEST(RunHistory, TwoRunsThatDifferTellOfNoFirstRunAlone)
{
    // It may be that the program takes what it is given.
    const RunTime next = OfType(10).predict(RunHistory(runs_one_by_one("scf", {20, 5}), kNow), "u1");

    EXPECT_LT(next.run_s, 8) << "the last run counts most";
    EXPECT_GT(next.high_s, 10);
}

TEST(RunHistory, WhereRunsHardlyDifferOneIsBelievedMore)
{
    std::vector<PastRun> runs = runs_one_by_one("scf", {12});
    const double alone = RunHistory(runs, kNow).correction("scf", "u1", {}, OfType(11).raw()).own_share;
    for (const char* type : {"md", "fft", "sort"}) {
        const std::vector<PastRun> others = runs_one_by_one(type, {10, 10.05, 9.95, 10, 10.05});
        runs.insert(runs.end(), others.begin(), others.end());
    }
    const double steady = RunHistory(runs, kNow).correction("scf", "u1", {}, OfType(11).raw()).own_share;
    const std::vector<PastRun> wild = runs_one_by_one("search", {1, 40, 7, 20, 3});
    runs.insert(runs.end(), wild.begin(), wild.end());
    const double beside_wild = RunHistory(runs, kNow).correction("scf", "u1", {}, OfType(11).raw()).own_share;

    EXPECT_LT(alone, 0.94);
    EXPECT_GT(steady, 0.95);
    EXPECT_GT(beside_wild, 0.95) << "one type whose time depends on what it is given says nothing of the others";
}

TEST(RunHistory, IsAsGoodAsTheLastRunThereWhereFirstRunsReadTheirFiles)
{
    // Programs whose first run takes up to a fifth longer and whose others differ by 2 %. The third run of each is
    // predicted: a mean of the two before it would be 4 % too long.
    std::mt19937_64 random(5);
    std::normal_distribution<double> noise(0, 0.02);
    std::uniform_real_distribution<double> once(0, 0.2);
    std::vector<PastRun> runs;
    std::vector<double> off;
    std::vector<double> off_by_last;
    for (int type = 0; type < 90; ++type) {
        const auto take = [&](double longer) {
            PastRun run = reference_run("u1", 10, 10 * std::exp(longer + noise(random)));
            run.job_type = "type-" + std::to_string(type);
            run.ended_at = kNow - 48h + static_cast<int>(runs.size()) * 1min;
            runs.push_back(run);
            return run.actual_s;
        };
        take(once(random));
        const double last_s = take(0);
        const RunCorrection correction =
            RunHistory(runs, kNow).correction(runs.back().job_type, "u1", {}, OfType(last_s).raw());
        const double actual_s = take(0);
        off.push_back(last_s * correction.factor / actual_s - 1);
        off_by_last.push_back(last_s / actual_s - 1);
    }
    const auto typical = [](const std::vector<double>& values) {
        std::vector<double> sizes;
        for (const double value : values)
            sizes.push_back(std::abs(value));
        return median(std::move(sizes));
    };

    EXPECT_LT(std::abs(std::accumulate(off.begin(), off.end(), 0.0) / static_cast<double>(off.size())), 0.02);
    EXPECT_LT(typical(off), 1.3 * typical(off_by_last));
}

/// Types that all took a fifth less than predicted on u2 and what was predicted on u1; "scf" ran on u1 only.
std::vector<PastRun> types_on_two_units(int type_count)
{
    std::vector<PastRun> runs{reference_run("u1", 10, 10)};
    for (int type = 0; type < type_count; ++type) {
        for (const auto& [unit_type, actual_s] : {std::pair("u1", 10.0), std::pair("u2", 8.0)}) {
            runs.push_back(reference_run(unit_type, 10, actual_s));
            runs.back().job_type = "type-" + std::to_string(type);
        }
    }
    return runs;
}

TEST(RunHistory, WhatAllTypesMeetOnAUnitTypeIsExpectedOfOneThatNeverRanThere)
{
    // Its probes came at a bad moment: whatever is predicted by them is too long.
    const RunHistory history(types_on_two_units(8), kNow);
    const OfType job(10);

    EXPECT_NEAR(job.predict(history, "u2").run_s, 8.1, 0.3);
    EXPECT_NEAR(job.predict(history, "u3").run_s, 10, 0.3) << "it is that unit type's error, not of all";
    EXPECT_LE(history.least_factor("scf", {}, job.raw()), history.correction("scf", "u2", {}, job.raw()).factor);
    EXPECT_NEAR(history.correction("never ran", "u2", {}, job.raw()).factor, 0.81, 0.03);
}

TEST(RunHistory, WhatOneTypeOrTwoMeetThereIsTheirOwn)
{
    for (const int type_count : {1, 2}) {
        const RunHistory history(types_on_two_units(type_count), kNow);
        EXPECT_EQ(OfType(10).predict(history, "u2").run_s, OfType(10).predict(history, "u3").run_s) << type_count;
    }
}

TEST(RunHistory, AKnownRunThatWasLongForOnceIsCarriedOverAsItsPlaceTakesIt)
{
    // The profiled run was the first there: 12 s, and then 10 s. Another place takes twice as long.
    std::vector<PastRun> runs = runs_one_by_one("scf", {12, 10, 10});
    for (PastRun& run : runs)
        run.raw_s = run.raw_low_s = run.raw_high_s = 12;
    KnownRun known;
    known.unit_type = "u1";
    known.run_s = 12;
    const RunHistory history(runs, kNow);
    const OfType job(24);
    RawPrediction elsewhere = job.raw();
    elsewhere.known_factor = history.known_run_factor("scf", {}, known);
    const RunCorrection correction = history.correction("scf", "u2", {}, elsewhere);

    EXPECT_NEAR(12 * elsewhere.known_factor, 10, 0.3);
    EXPECT_NEAR(24 * correction.factor, 20, 0.4);
    EXPECT_EQ(history.least_factor("scf", {}, elsewhere), correction.factor) << "bounds of decisions know it";

    runs[1].unit_count = runs[2].unit_count = 4;
    EXPECT_EQ(RunHistory(runs, kNow).known_run_factor("scf", {}, known), 1)
        << "what four units take says nothing of it";
    runs.erase(runs.begin() + 1, runs.end());
    EXPECT_EQ(RunHistory(runs, kNow).known_run_factor("scf", {}, known), 1) << "it is that run itself";
    EXPECT_EQ(history.known_run_factor("other", {}, known), 1);
}

TEST(RunHistory, WhereTheKnownRunRanItsRunsThereCountOnce)
{
    std::vector<PastRun> runs = runs_one_by_one("scf", {12, 10, 10});
    for (PastRun& run : runs)
        run.raw_s = run.raw_low_s = run.raw_high_s = 12;
    KnownRun known;
    known.unit_type = "u1";
    known.run_s = 12;
    const RunHistory history(runs, kNow);
    const OfType job(12);
    const RunCorrection by_runs = history.correction("scf", "u1", {}, job.raw());
    RawPrediction there = job.raw();
    there.known_factor = history.known_run_factor("scf", {}, known);
    there.is_known_run = true;
    const RunCorrection correction = history.correction("scf", "u1", {}, there);

    ASSERT_LT(there.known_factor, 0.9);
    EXPECT_EQ(correction.factor, by_runs.factor) << "the same runs told both";
    EXPECT_EQ(correction.deviation, by_runs.deviation);
    EXPECT_EQ(correction.own_share, by_runs.own_share);
    EXPECT_EQ(correction.known_factor, there.known_factor) << "the ledger's raw prediction has it";

    there.is_known_run = false;
    EXPECT_LT(history.correction("scf", "u1", {}, there).factor, by_runs.factor) << "counted twice it would go too far";
}

TEST(RunHistory, RunsThatDisagreeWhereTheKnownRunRanAreNotBelievedForBeingCountedTwice)
{
    // A run of 40 s is known; others there took 5 s and 20 s: half of what they say is believed, once.
    std::vector<PastRun> runs = runs_one_by_one("scf", {40, 5, 20});
    for (PastRun& run : runs)
        run.raw_s = run.raw_low_s = run.raw_high_s = 40;
    KnownRun known;
    known.unit_type = "u1";
    known.run_s = 40;
    const RunHistory history(runs, kNow);
    const OfType job(40);
    RawPrediction there = job.raw();
    const double by_runs = history.correction("scf", "u1", {}, there).factor;
    there.known_factor = history.known_run_factor("scf", {}, known);
    there.is_known_run = true;

    EXPECT_EQ(history.correction("scf", "u1", {}, there).factor, by_runs);
    there.is_known_run = false;
    EXPECT_LT(history.correction("scf", "u1", {}, there).factor, by_runs);
}

TEST(Corrected, KeepsOfTheRawPredictionsIntervalItsShare)
{
    const RunTime time = corrected({10, 10 / 1.1, 11}, {.factor = 1, .deviation = 0, .raw_share = 0.5}, 1);

    EXPECT_NEAR(time.high_s, 10 * std::sqrt(1.1), 1e-9);
}

TEST(Corrected, KeepsAllOfWhatNeighboursMakeUnsure)
{
    // Alone 10 to 10, beside others 10 to 30.
    const RunTime time =
        corrected_beside({10, 10, 10}, {20, 10, 30}, {.factor = 2, .deviation = 0.1, .raw_share = 0}, 1);
    const double own = 1.2815515655446004 * 0.1;

    EXPECT_DOUBLE_EQ(time.run_s, 40);
    EXPECT_NEAR(time.low_s, 40 * std::exp(-std::hypot(std::log(2), own)), 1e-9);
    EXPECT_NEAR(time.high_s, 40 * std::exp(std::hypot(std::log(1.5), own)), 1e-9);
}

TEST(Corrected, WidensByBothDeviationsOnTheLogScale)
{
    // Half widths: ln 1.1 of the raw prediction, 1.2816 · 0.1 of the correction.
    const RunTime time = corrected({10, 10 / 1.1, 11}, {.factor = 2, .deviation = 0.1}, 1.5);
    const double half = 1.5 * std::hypot(std::log(1.1), 1.2815515655446004 * 0.1);

    EXPECT_DOUBLE_EQ(time.run_s, 20);
    EXPECT_NEAR(time.low_s, 20 * std::exp(-half), 1e-9);
    EXPECT_NEAR(time.high_s, 20 * std::exp(half), 1e-9);
}

} // namespace
} // namespace fathom
