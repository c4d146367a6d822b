#include "tests/core/decide/history/past_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;
using test::add_runs;
using test::kNow;
using test::make_run;

double factor(const std::vector<PastRun>& runs, const std::string& job_type, const std::string& unit_type)
{
    return RunHistory(runs, kNow).correction(job_type, unit_type).factor;
}

TEST(RunHistory, OfNoRunsAtAllCorrectsNothing)
{
    const RunHistory history;
    const RunCorrection correction = history.correction("scf", "u1");

    EXPECT_EQ(correction.factor, 1);
    EXPECT_EQ(correction.deviation, 0);
    EXPECT_EQ(corrected({10, 9, 11}, correction, correction.width_factor).low_s, 9);
    EXPECT_FALSE(history.estimate("scf", "u1"));
}

TEST(RunHistory, BeforeTheFirstRunNamedOperatorsTellLittleAndAKnownRunMuch)
{
    const RunHistory history({}, kNow);
    const RawPrediction reference{RawBasis::kReference, false, nullptr};
    const RunTime by_operators = corrected({10, 9, 11}, history.correction("scf", "u1"), 1);
    const RunTime by_reference = corrected({10, 9, 11}, history.correction("scf", "u1", {}, reference), 1);

    EXPECT_EQ(by_operators.run_s, 10);
    EXPECT_GT(by_operators.high_s, 19) << "what it does beside its operators may take as long as they do";
    EXPECT_EQ(by_reference.run_s, 10);
    EXPECT_LT(by_reference.high_s, 12.5);
    EXPECT_GT(by_reference.high_s, 11);
    EXPECT_FALSE(history.correction("scf", "u1").knows_type);
}

TEST(RunHistory, TheFirstRunCountsForNearlyAllAndManyForAll)
{
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 1, 2);
    const double after_one = factor(runs, "scf", "u1");
    add_runs(runs, "scf", "u1", 9, 2);
    const double after_ten = factor(runs, "scf", "u1");
    add_runs(runs, "scf", "u1", 190, 2);

    EXPECT_GT(after_one, 1.8);
    EXPECT_LT(after_one, 1.96);
    EXPECT_GT(after_ten, 1.93);
    EXPECT_NEAR(factor(runs, "scf", "u1"), 2, 0.04);
}

TEST(RunHistory, CanBeCheckedByHand)
{
    // One run that took e^0.1 times its raw prediction; deviations as usual: 0.1, 0.2, 0.5, 0.2.
    // c = 0.04 / (0.04 + 0.01) = 0.8, f = 0.25 / (0.25 + 0.04 / 0.8) = 5/6,
    // m = 5/6 · 0.1 / (5/6 + 0.25 / 0.04) = 0.2/17, A = m + 5/6 · (0.1 − m), B = A + 0.8 · (0.1 − A).
    const std::vector<PastRun> runs{make_run("scf", "u1", 10, 10 * std::exp(0.1))};
    const RunHistory history(runs, kNow);

    EXPECT_NEAR(std::log(history.correction("scf", "u1").factor), 0.09706, 1e-5);
    EXPECT_NEAR(std::log(history.correction("scf", "u2").factor), 0.08529, 1e-5);
    EXPECT_NEAR(std::log(history.correction("other", "u1").factor), 0.01176, 1e-5);
    EXPECT_EQ(history.correction("scf", "u1").job_count, 1);
    EXPECT_EQ(history.correction("scf", "u2").like_count, 1);
    EXPECT_TRUE(history.correction("scf", "u2").knows_type);
    EXPECT_FALSE(history.correction("other", "u1").knows_type);
}

TEST(RunHistory, TellsAUnitTypesDeviationFromTheJobTypesError)
{
    // The job type takes 1.5 times its raw prediction everywhere, on u3 three times.
    std::vector<PastRun> runs;
    for (const char* unit_type : {"u1", "u2", "u4", "u5"})
        add_runs(runs, "scf", unit_type, 40, 1.5);
    add_runs(runs, "scf", "u3", 40, 3);
    add_runs(runs, "md", "u1", 40, 1);

    EXPECT_NEAR(factor(runs, "scf", "u1"), 1.5, 0.07);
    EXPECT_NEAR(factor(runs, "scf", "u3"), 3, 0.25);
    EXPECT_NEAR(factor(runs, "scf", "never seen"), 1.7, 0.2) << "the type's error, a little of u3's";
    EXPECT_NEAR(factor(runs, "md", "u3"), 1, 0.12) << "what scf does there says nothing of md";
}

TEST(RunHistory, PredictsWithoutBiasInAWorldOfKnownEffects)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::vector<PastRun> runs;
    std::map<std::pair<int, int>, double> truth;
    for (int type = 0; type < 12; ++type) {
        const double of_type = 0.3 + 0.4 * normal(random);
        for (int unit = 0; unit < 6; ++unit) {
            const double effect = truth[{type, unit}] = of_type + 0.2 * normal(random);
            for (int i = 0; i < 30; ++i)
                runs.push_back(make_run(std::to_string(type), std::to_string(unit), 5,
                                        5 * std::exp(effect + 0.1 * normal(random))));
        }
    }
    const RunHistory history(runs, kNow);
    double sum = 0;
    double worst = 0;
    for (const auto& [at, effect] : truth) {
        const double off =
            std::log(history.correction(std::to_string(at.first), std::to_string(at.second)).factor) - effect;
        sum += off;
        worst = std::max(worst, std::abs(off));
    }

    EXPECT_NEAR(sum / static_cast<double>(truth.size()), 0, 0.01);
    EXPECT_LT(worst, 0.12);
}

/// How far corrections are off in networks of which raw predictions are off by 4 % a place, where runs differ by 16 %.
double error_of_corrections(int runs_of_place)
{
    constexpr int kNetworks = 20;
    std::mt19937_64 random(13);
    std::normal_distribution<double> normal;
    double squares = 0;
    double places = 0;
    for (int network = 0; network < kNetworks; ++network) {
        std::vector<PastRun> runs;
        std::map<std::pair<std::string, std::string>, double> truth;
        for (int type = 0; type < 12; ++type) {
            for (int unit = 0; unit < 5; ++unit) {
                const auto at = std::pair(std::to_string(type), std::to_string(unit));
                const double effect = truth[at] = 0.04 * normal(random);
                for (int i = 0; i < runs_of_place; ++i)
                    runs.push_back(make_run(at.first, at.second, 5, 5 * std::exp(effect + 0.16 * normal(random))));
            }
        }
        const RunHistory history(runs, kNow);
        for (const auto& [at, effect] : truth) {
            const double off = std::log(history.correction(at.first, at.second).factor) - effect;
            squares += off * off;
            places += 1;
        }
    }
    return std::sqrt(squares / places);
}

TEST(RunHistory, PlacesThatSeemToDifferByChanceAreNotBelieved)
{
    // Before there are runs it is 0.04. Were the noise of runs taken for differences of places, two would make it
    // 0.085, four 0.06.
    EXPECT_LT(error_of_corrections(2), 0.06);
    EXPECT_LT(error_of_corrections(4), 0.05);
    EXPECT_LT(error_of_corrections(60), 0.025) << "many tell the differences";
}

TEST(RunHistory, ForgetsHalfIn30Days)
{
    // As many runs a month ago as now, the other way: the older count half, so the mean leans to the newer.
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 200, 2);
    for (PastRun& run : runs)
        run.ended_at = kNow - 30 * 24h;
    add_runs(runs, "scf", "u1", 200, 1);

    // Winsorized around the newer, which weigh more; without forgetting it stood in the middle, at 1.41.
    EXPECT_LT(factor(runs, "scf", "u1"), 1.3);
    EXPECT_GE(factor(runs, "scf", "u1"), 0.99);
}

TEST(RunHistory, AWildRunDoesNotRuinIt)
{
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 12, 1.1);
    const RunCorrection before = RunHistory(runs, kNow).correction("scf", "u1");
    runs.push_back(make_run("scf", "u1", 10, 1100));
    const RunCorrection after = RunHistory(runs, kNow).correction("scf", "u1");
    const std::vector<PastRun> alone{make_run("scf", "u1", 10, 1000)};

    EXPECT_LT(after.factor / before.factor, 1.06);
    EXPECT_GT(after.factor, before.factor) << "still, it was slow";
    EXPECT_LT(after.deviation, 0.3);
    EXPECT_LT(factor(alone, "scf", "u1"), 6) << "one run says three deviations at most";
}

TEST(RunHistory, OrderDoesNotMatter)
{
    std::mt19937_64 random(11);
    std::vector<PastRun> runs;
    for (int i = 0; i < 300; ++i) {
        PastRun run = make_run(std::to_string(random() % 4), std::to_string(random() % 5), 10,
                               10 * std::exp(static_cast<double>(random() % 100) / 100));
        run.ended_at -= std::chrono::hours(random() % 1000);
        run.raw_low_s = 10 - static_cast<double>(random() % 50) / 10;
        run.raw_high_s = 14;
        run.predicted_s = 12;
        run.low_s = 9;
        run.high_s = 14;
        runs.push_back(run);
    }
    const RunHistory one(runs, kNow);
    std::shuffle(runs.begin(), runs.end(), random);
    const RunHistory other(runs, kNow);

    for (int type = 0; type < 5; ++type) {
        for (int unit = 0; unit < 6; ++unit) {
            const RunCorrection a = one.correction(std::to_string(type), std::to_string(unit));
            const RunCorrection b = other.correction(std::to_string(type), std::to_string(unit));
            EXPECT_EQ(a.factor, b.factor);
            EXPECT_EQ(a.deviation, b.deviation);
            EXPECT_NEAR(a.width_factor, b.width_factor, 1e-12);
            EXPECT_NEAR(one.estimate(std::to_string(type), std::to_string(unit))->time.run_s,
                        other.estimate(std::to_string(type), std::to_string(unit))->time.run_s, 1e-9);
        }
    }
}

TEST(RunHistory, LeavesOutWhatIsNoTime)
{
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 5, 1.3);
    const double before = factor(runs, "scf", "u1");
    runs.push_back(make_run("scf", "u1", 0, 10));
    runs.push_back(make_run("scf", "u1", 10, -1));
    runs.push_back(make_run("scf", "u1", 10, std::numeric_limits<double>::infinity()));
    runs.push_back(make_run("scf", "u1", std::nan(""), 10));

    EXPECT_EQ(factor(runs, "scf", "u1"), before);
}

TEST(RunHistory, IsMadeOf20000Runs)
{
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::vector<PastRun> runs;
    for (int i = 0; i < 20000; ++i) {
        PastRun run =
            make_run("type-" + std::to_string(random() % 200), "ut_01J0000000000000" + std::to_string(random() % 400),
                     10, 10 * std::exp(0.2 * normal(random)));
        run.predicted_s = 10;
        run.low_s = 8;
        run.high_s = 12;
        runs.push_back(run);
    }

    const RunHistory history(runs, kNow);

    EXPECT_EQ(history.calibration().job_count, 20000);
}

TEST(RunHistory, UnknownJobsTakeWhatTheirTypeTookThere)
{
    std::vector<PastRun> runs;
    for (const double actual_s : {90.0, 100.0, 110.0, 100.0})
        runs.push_back(make_run("scf", "u1", 0, actual_s));
    const std::optional<RunEstimate> estimate = RunHistory(runs, kNow).estimate("scf", "u1");

    ASSERT_TRUE(estimate);
    EXPECT_NEAR(estimate->time.run_s, 100, 1e-9);
    EXPECT_LT(estimate->time.low_s, 90);
    EXPECT_GT(estimate->time.high_s, 110);
    EXPECT_EQ(estimate->basis, "4 runs of its type there");
    EXPECT_EQ(estimate->job_count, 4);
}

TEST(RunHistory, UnknownJobsTakeWhatTheirTypeTakesNow)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < 25; ++i) {
        runs.push_back(make_run("scf", "u1", 0, i < 20 ? 100 : 200));
        runs.back().ended_at = kNow - 30h + i * 1h;
    }
    const std::optional<RunEstimate> changed = RunHistory(runs, kNow).estimate("scf", "u1");
    runs.resize(21);
    const std::optional<RunEstimate> one_slow = RunHistory(runs, kNow).estimate("scf", "u1");

    ASSERT_TRUE(changed && one_slow);
    EXPECT_NEAR(changed->time.run_s, 200, 1e-9) << "five runs in a row are no accident";
    EXPECT_NEAR(one_slow->time.run_s, 100, 1e-9) << "one may be";
}

TEST(RunHistory, UnknownJobsAreCarriedOverByHowOtherTypesCompare)
{
    // u2 takes twice as long as u1 for six types; the seventh was seen on u1 only.
    std::vector<PastRun> runs;
    for (int type = 0; type < 6; ++type) {
        for (int i = 0; i < 20; ++i) {
            runs.push_back(make_run(std::to_string(type), "u1", 0, 10.0 * (type + 1)));
            runs.push_back(make_run(std::to_string(type), "u2", 0, 20.0 * (type + 1)));
        }
    }
    for (int i = 0; i < 20; ++i)
        runs.push_back(make_run("new", "u1", 0, 300));
    const RunHistory history(runs, kNow);
    const std::optional<RunEstimate> elsewhere = history.estimate("new", "u2");
    const std::optional<RunEstimate> unknown = history.estimate("unheard of", "u2");

    ASSERT_TRUE(elsewhere && unknown);
    EXPECT_NEAR(elsewhere->time.run_s, 600, 70);
    EXPECT_EQ(elsewhere->basis, "20 runs of its type elsewhere");
    EXPECT_EQ(unknown->basis, "runs of 7 other types");
    EXPECT_GT(unknown->time.high_s / unknown->time.low_s, elsewhere->time.high_s / elsewhere->time.low_s);
    EXPECT_GT(unknown->time.run_s, 30);
    EXPECT_LT(unknown->time.run_s, 200);
}

std::vector<PastRun> runs_of(const std::string& owner, const std::string& job_type, int count, double ratio)
{
    std::vector<PastRun> runs;
    add_runs(runs, job_type, "u1", count, ratio);
    for (PastRun& run : runs) {
        run.owner = owner;
        run.project = "materials";
    }
    return runs;
}

TEST(RunHistory, NobodysRunsChangeWhatIsSaidOfAnothersType)
{
    std::vector<PastRun> runs = runs_of("ada", "cfd/solver", 3, 1.5);
    const RunOwner ada{"ada", "materials"};
    const RunHistory alone(runs, kNow);
    for (const char* type : {"cfd/solver", "x", "y", "z"}) {
        const std::vector<PastRun> others = runs_of("bob", type, 50, 40);
        runs.insert(runs.end(), others.begin(), others.end());
    }
    const RunHistory both(runs, kNow);

    for (const char* unit_type : {"u1", "u2"}) {
        for (const char* type : {"cfd/solver", "new"}) {
            const RunCorrection before = alone.correction(type, unit_type, ada);
            const RunCorrection after = both.correction(type, unit_type, ada);
            EXPECT_EQ(before.factor, after.factor) << type << " on " << unit_type;
            EXPECT_EQ(before.deviation, after.deviation);
            EXPECT_EQ(before.width_factor, after.width_factor);
        }
        EXPECT_EQ(alone.estimate("cfd/solver", unit_type, ada)->time.run_s,
                  both.estimate("cfd/solver", unit_type, ada)->time.run_s);
    }
    EXPECT_GT(both.correction("cfd/solver", "u1", {"bob", "materials"}).factor, 10);
}

TEST(RunHistory, ATypeThatItsOwnerNeverRanStartsFromItsProject)
{
    const RunHistory history(runs_of("ada", "cfd/solver", 20, 1.5), kNow);

    const double known = history.correction("cfd/solver", "u1", {"ada", "materials"}).factor;
    EXPECT_EQ(history.correction("cfd/solver", "u1", {"bob", "materials"}).factor, known);
    EXPECT_EQ(history.correction("cfd/solver", "u1", {"bob", "materials"}).job_count, 20);
}

TEST(RunHistory, KnowsTheLeastFactorOfAType)
{
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 20, 0.5);
    add_runs(runs, "scf", "u2", 20, 3);
    add_runs(runs, "md", "u1", 20, 2);
    const RunHistory history(runs, kNow);

    EXPECT_EQ(history.least_factor("scf"), history.correction("scf", "u1").factor);
    EXPECT_EQ(history.least_factor("md"),
              std::min(history.correction("md", "u1").factor, history.correction("md", "elsewhere").factor));
    EXPECT_EQ(history.least_factor("unknown"), history.correction("unknown", "u1").factor);
    EXPECT_EQ(history.unit_types_with_runs("scf"), (std::vector<std::string_view>{"u1", "u2"}));
    EXPECT_TRUE(history.unit_types_with_runs("unknown").empty());
    EXPECT_EQ(RunHistory().least_factor("scf"), 1);
}

TEST(RunHistory, CanBeRebuiltFromItsAnswers)
{
    std::vector<PastRun> runs;
    add_runs(runs, "scf", "u1", 8, 1.7);
    const RunHistory history(runs, kNow);
    const std::vector<RunAnswer> answers{{"scf", "u1", history.correction("scf", "u1"), history.estimate("scf", "u1")}};
    const RunHistory again = RunHistory::from(answers);

    EXPECT_EQ(again.correction("scf", "u1").factor, history.correction("scf", "u1").factor);
    EXPECT_EQ(again.correction("scf", "u1").deviation, history.correction("scf", "u1").deviation);
    EXPECT_EQ(again.estimate("scf", "u1")->basis, history.estimate("scf", "u1")->basis);
    EXPECT_EQ(again.correction("scf", "u2").factor, 1);
}

} // namespace
} // namespace fathom
