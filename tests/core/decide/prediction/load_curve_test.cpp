#include "core/decide/prediction/load_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace fathom {
namespace {

/// So many results of one size, beside 0, 1, 2 … 7 busy cores in turn.
std::vector<LoadedResult> results_of(const std::string& size, double alone_s, double slope, int count, double noise,
                                     unsigned seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, noise);
    std::vector<LoadedResult> results;
    for (int i = 0; i < count; ++i) {
        const double busy_cores = i % 8;
        results.push_back({size, busy_cores, alone_s * std::exp(slope * busy_cores + normal(random))});
    }
    return results;
}

TEST(LoadCurve, TellsHowMuchSlowerEachHeldCoreMakesAnOperator)
{
    // 3 % a core, measured 80 times: times scatter by 5 %.
    const auto curve = fit_load_curve(results_of("n=1", 2, 0.03, 80, 0.05, 7));

    ASSERT_TRUE(curve);
    EXPECT_NEAR(curve->slope, 0.03, 0.01);
    EXPECT_NEAR(curve->at(7).factor, std::exp(0.21), 0.1);
    EXPECT_EQ(curve->result_count, 80);
}

TEST(LoadCurve, ItsIntervalsHold)
{
    constexpr unsigned kCurves = 300;
    unsigned inside = 0;
    for (unsigned seed = 0; seed < kCurves; ++seed) {
        const LoadFactor factor = fit_load_curve(results_of("n=1", 2, 0.03, 24, 0.05, seed)).value().at(7);
        if (factor.low <= std::exp(0.21) && std::exp(0.21) <= factor.high) ++inside;
    }
    EXPECT_GT(inside, kCurves * 70 / 100);
    EXPECT_LT(inside, kCurves * 90 / 100);
}

TEST(LoadCurve, SizesHaveTheirOwnTimesAlone)
{
    // The long size was measured beside busy neighbours mostly, the short one alone mostly: no neighbour did that.
    std::vector<LoadedResult> results;
    for (const double busy_cores : {0.0, 6.0, 6.0, 6.0})
        results.push_back({"n=1000", busy_cores, 8});
    for (const double busy_cores : {0.0, 0.0, 0.0, 6.0})
        results.push_back({"n=1", busy_cores, 0.01});
    const auto curve = fit_load_curve(results);

    ASSERT_TRUE(curve);
    EXPECT_NEAR(curve->slope, 0, 1e-12);
}

TEST(LoadCurve, ByHand)
{
    // Alone 1 s, beside four cores e^0.4 s. Within the size busy is ∓2 and ln(time) ∓0.2: sums 8 and 0.8, nothing left.
    // Noise² = 2 · 0.0025 / 2 = 0.0025, told = 8 + 0.0025 / 0.0025 = 9.
    const auto curve = fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, std::exp(0.4)}});

    ASSERT_TRUE(curve);
    EXPECT_NEAR(curve->slope, 0.8 / 9, 1e-12);
    EXPECT_NEAR(curve->deviation, 0.05 / 3, 1e-12);
    EXPECT_NEAR(curve->at(4).high, std::exp(4 * 0.8 / 9 + 1.2815515655446004 * 4 * 0.05 / 3), 1e-6);
}

TEST(LoadCurve, WithoutTwoLoadsOfOneSizeNothingIsTold)
{
    EXPECT_FALSE(fit_load_curve({}));
    EXPECT_FALSE(fit_load_curve(std::vector<LoadedResult>{{"n=1", 2, 1}, {"n=1", 2.3, 1.5}})) << "that is noise";
    EXPECT_FALSE(fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=2", 4, 2}})) << "no size has both";
    EXPECT_FALSE(fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, 0}})) << "no time is 0";
}

TEST(LoadCurve, NeighboursMakeNothingFasterAndMoreOfThemThanWereMeasuredAreNotGuessed)
{
    const auto faster = fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, 0.8}});
    ASSERT_TRUE(faster);
    EXPECT_EQ(faster->at(4).factor, 1);
    EXPECT_EQ(faster->at(4).low, 1);
    EXPECT_GT(faster->at(4).high, 1) << "it may be chance";

    const auto slower = fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, 1.5}});
    ASSERT_TRUE(slower);
    EXPECT_EQ(slower->at(64).factor, slower->at(4).factor);
    EXPECT_EQ(slower->at(0).high, 1) << "alone it is what was measured alone";
}

TEST(LoadCurve, CopiesByHand)
{
    // Two copies take e^0.1 and e^0.3 times as long as one alone: ln 0.2 ± 0.1, squares 0.02. Noise² = (2 · 0.0025 +
    // 0.02) / (2 + 1) = 0.00833, of one run.
    const auto curve =
        fit_load_curve({}, std::vector<CopyResult>{{"r1", 2, 1, std::exp(0.1)}, {"r1", 2, 1, std::exp(0.3)}});

    ASSERT_TRUE(curve);
    ASSERT_EQ(curve->copies.size(), 1U);
    EXPECT_NEAR(curve->copies[0].log_factor, 0.2, 1e-12);
    EXPECT_NEAR(curve->copies[0].deviation, std::sqrt(0.025 / 3), 1e-12);
    EXPECT_EQ(curve->copies[0].run_count, 1);
    EXPECT_NEAR(curve->at(1).factor, std::exp(0.2), 1e-12);
    EXPECT_NEAR(curve->at(0.5).factor, std::exp(0.1), 1e-12) << "half way from nothing";
    EXPECT_NEAR(curve->at(9).factor, std::exp(0.2), 1e-12) << "more were not measured";
    EXPECT_NEAR(curve->at(1).high, std::exp(0.2 + 1.2815515655446004 * std::sqrt(0.025 / 3)), 1e-12);
    EXPECT_EQ(curve->at(0).high, 1);
    EXPECT_EQ(curve->result_count, 0) << "no neighbours told a slope";
}

TEST(LoadCurve, CopiesWhoseSamplesScatterSayLess)
{
    // As above, and the variances within the copies, 0.06² and 0.08² of mean 0.005, count on top.
    const CopyResult first{"r1", 2, 1, std::exp(0.1), {}, 0.06};
    const CopyResult second{"r1", 2, 1, std::exp(0.3), {}, 0.08};

    const LoadCurve curve = fit_load_curve({}, std::vector<CopyResult>{first, second}).value();

    EXPECT_NEAR(curve.copies.at(0).log_factor, 0.2, 1e-12);
    EXPECT_NEAR(curve.copies.at(0).deviation, std::sqrt(0.025 / 3 + 0.005), 1e-12);
}

TEST(LoadCurve, ScatterWithinCopiesOfSeveralSendingsEvensOut)
{
    const std::vector<CopyResult> copies{{"r1", 2, 1, 1.2, {}, 0.2}, {"r2", 2, 1, 1.2, {}, 0.2}};

    // No squares: noise² = 2 · 0.0025 / (2 + 1), of two runs.
    EXPECT_NEAR(fit_load_curve({}, copies).value().copies.at(0).deviation, std::sqrt((0.005 / 3 + 0.04) / 2), 1e-12);
}

TEST(LoadCurve, ACopyWhoseDeviationIsNoNumberTellsNothing)
{
    const CopyResult good{"r1", 2, 1, 1.2, {}, 0.1};
    const CopyResult bad{"r1", 2, 1, 1.4, {}, std::nan("")};

    EXPECT_FALSE(fit_load_curve({}, std::vector<CopyResult>{bad}).has_value());
    EXPECT_NEAR(fit_load_curve({}, std::vector<CopyResult>{good, bad}).value().copies.at(0).log_factor, std::log(1.2),
                1e-12);
}

TEST(LoadCurve, CopiesShowACurveThatIsFlatUntilMemoryIsFull)
{
    const auto curve = fit_load_curve({}, std::vector<CopyResult>{{"r1", 2, 1, 1}, {"r2", 4, 3, 1}, {"r3", 8, 7, 3}});

    ASSERT_TRUE(curve);
    EXPECT_EQ(curve->at(3).factor, 1);
    EXPECT_NEAR(curve->at(5).factor, std::sqrt(3), 1e-12);
    EXPECT_NEAR(curve->at(7).factor, 3, 1e-12);
    EXPECT_EQ(curve->known_busy_cores(), 7);
}

TEST(LoadCurve, MoreCopiesAreNeverFasterAndCopiesGoBeforeTheSlope)
{
    const std::vector<CopyResult> copies{{"r1", 2, 1, 1.5}, {"r2", 4, 3, 1.2}, {"r3", 8, 7, 0.9}};
    const auto curve = fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, 4}}, copies);

    ASSERT_TRUE(curve);
    EXPECT_GT(curve->slope, 0.1) << "it is told all the same";
    EXPECT_EQ(curve->result_count, 2);
    for (const double busy_cores : {1.0, 3.0, 7.0})
        EXPECT_NEAR(curve->at(busy_cores).factor, 1.5, 1e-12) << busy_cores;
}

TEST(LoadCurve, CopiesThatCannotBeAreNone)
{
    EXPECT_FALSE(fit_load_curve({}, std::vector<CopyResult>{{"r1", 1, 1, 2}, {"r1", 2, 0, 2}, {"r1", 2, 1, 0}}));
}

TEST(LoadCurve, SeveralSendingsOfCopiesTellMore)
{
    std::vector<CopyResult> once{{"r1", 2, 1, 1.2}, {"r1", 2, 1, 1.2}};
    std::vector<CopyResult> often = once;
    for (const char* const run : {"r2", "r3", "r4"})
        often.insert(often.end(), {{run, 2, 1, 1.2}, {run, 2, 1, 1.2}});

    const LoadFactor one = fit_load_curve({}, once)->at(1);
    const LoadFactor four = fit_load_curve({}, often)->at(1);
    EXPECT_NEAR(one.factor, four.factor, 1e-12);
    EXPECT_LT(four.high, one.high);
    EXPECT_EQ(fit_load_curve({}, often)->copies[0].run_count, 4);
}

TEST(LoadCurve, IsFoundByItsOperator)
{
    const UnitLoads loads{{"dgemm", {.slope = 0.1}}, {"fft1d", {.slope = 0.2}}};

    EXPECT_EQ(find_load(&loads, "fft1d")->slope, 0.2);
    EXPECT_EQ(find_load(&loads, "fft"), nullptr);
    EXPECT_EQ(find_load(&loads, "spmv"), nullptr);
    EXPECT_EQ(find_load(nullptr, "dgemm"), nullptr);
}

TEST(LoadCurve, SaysWhereItIsFrom)
{
    const Json of_copies = to_json(*fit_load_curve({}, std::vector<CopyResult>{{"r1", 4, 3, 2}}));
    EXPECT_EQ(of_copies["source"], "copies");
    EXPECT_TRUE(of_copies["slope"].is_null());
    EXPECT_EQ(of_copies["copies"][0]["copies"], 4);
    EXPECT_NEAR(of_copies["points"][2]["factor"].get<double>(), 2, 1e-12);

    const Json of_neighbours = to_json(*fit_load_curve(std::vector<LoadedResult>{{"n=1", 0, 1}, {"n=1", 4, 1.5}}));
    EXPECT_EQ(of_neighbours["source"], "neighbours");
    EXPECT_TRUE(of_neighbours["copies"].empty());
}

TEST(LoadCurve, CopiesThatTookTurnsWithBubblesTellSensitivityAndPressure)
{
    CopyResult first{"r1", 4, 3, 1.2, PressureRatios{2, 1.5, 2}};
    const std::vector<CopyResult> copies{first, {"r1", 4, 3, 1.2}, {"r1", 4, 3, 1.2}, {"r1", 4, 3, 1.2}};
    const LoadCurve curve = fit_load_curve({}, copies).value();

    EXPECT_NEAR(curve.at(3).factor, 1.2, 1e-9) << "beside ones that do the same";
    ASSERT_EQ(curve.bubbles.size(), 1U);
    EXPECT_NEAR(curve.beside_bubbles(3).factor, 2, 1e-9);
    EXPECT_NEAR(curve.beside_bubbles(1.5).factor, std::sqrt(2), 1e-9);
    EXPECT_NEAR(curve.sensitivity(), std::log(2) / 3, 1e-9);
    EXPECT_NEAR(curve.pressure.value().per_core, std::log(1.5) / std::log(2), 0.01);

    const Json json = to_json(curve);
    EXPECT_EQ(json["bubbles"][0]["busy_cores"], 3);
    EXPECT_EQ(json["pressure"]["run_count"], 1);
    EXPECT_GT(json["pressure"]["high"], json["pressure"]["per_core"]);
    const LoadCurve plain = fit_load_curve({}, std::vector<CopyResult>{{"r1", 4, 3, 1.2}}).value();
    EXPECT_EQ(plain.sensitivity(), 0);
    EXPECT_TRUE(to_json(plain)["pressure"].is_null());
}

TEST(LoadCurve, TheOrderOfResultsDoesNotMatter)
{
    std::vector<LoadedResult> results = results_of("n=1", 2, 0.03, 20, 0.05, 3);
    const auto before = fit_load_curve(results);
    std::reverse(results.begin(), results.end());
    const auto after = fit_load_curve(results);

    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->slope, after->slope);
    EXPECT_EQ(before->deviation, after->deviation);
}

} // namespace
} // namespace fathom
