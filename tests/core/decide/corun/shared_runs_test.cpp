#include "core/decide/corun/choose_device.hpp"
#include "core/decide/corun/shared_runs.hpp"

#include <gmock/gmock.h>

#include <array>

namespace fathom {
namespace {

using testing::ElementsAre;

SharedRun run_alone(const std::string& kind, double pace, const std::string& place = "gpu/1")
{
    return {.kind = kind, .place = place, .pace = pace};
}

SharedRun run_beside(const std::string& kind, const std::string& other, double pace, double together_share = 1,
                     const std::string& place = "gpu/1")
{
    return {.kind = kind, .beside = other, .place = place, .pace = pace, .together_share = together_share};
}

/// Ran alone at pace 1, and then beside each other.
std::vector<SharedRun> both_alone(std::vector<SharedRun> together)
{
    together.push_back(run_alone("a", 1));
    together.push_back(run_alone("b", 1));
    return together;
}

TEST(LearnPairs, TellsWhatBothKeptAgainstTheMedianOfTheirRunsAlone)
{
    const std::vector<SharedRun> runs{run_beside("a", "b", 4), run_beside("b", "a", 5),   run_alone("a", 2),
                                      run_alone("a", 40),      run_alone("a", 1),         run_alone("b", 4),
                                      run_alone("c", 1),       run_beside("c", "a", 1.1), run_beside("d", "a", 1)};

    const std::vector<GpuPair> pairs = learn_pairs(runs);

    ASSERT_EQ(pairs.size(), 1U) << "of c nobody ran beside it, d never ran alone";
    EXPECT_EQ(pairs[0].a, "a");
    EXPECT_EQ(pairs[0].b, "b");
    EXPECT_DOUBLE_EQ(pairs[0].a_share, 0.5);
    EXPECT_DOUBLE_EQ(pairs[0].b_share, 0.8);
    EXPECT_EQ(pairs[0].count, 1);
    EXPECT_EQ(pairs[0].a_spread, 0);
}

TEST(LearnPairs, TimeWithoutTheOtherIsNotTheOthers)
{
    // Of 1.25 s 0.5 s alone, and in 0.75 s what takes 0.5 s alone.
    const std::vector<GpuPair> pairs =
        learn_pairs(both_alone({run_beside("a", "b", 1.25, 0.6), run_beside("b", "a", 2)}));

    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_NEAR(pairs[0].a_share, 2.0 / 3, 1e-12);
    EXPECT_NEAR(pairs[0].b_share, 0.5, 1e-12);
    EXPECT_TRUE(learn_pairs(both_alone({run_beside("a", "b", 1.25, 0.4), run_beside("b", "a", 2)})).empty())
        << "too short to tell";
}

TEST(LearnPairs, TakesTheMedianOfTheNewestRunsWithTheirSpread)
{
    std::vector<SharedRun> runs{run_beside("b", "a", 2), run_beside("a", "b", 2), run_beside("a", "b", 1.25),
                                run_beside("a", "b", 4)};
    EXPECT_DOUBLE_EQ(learn_pairs(both_alone(runs)).at(0).a_share, 0.5) << "of 0.25, 0.5 and 0.8";
    EXPECT_NEAR(learn_pairs(both_alone(runs)).at(0).a_spread, 0.2753786, 1e-6);
    EXPECT_EQ(learn_pairs(both_alone(runs)).at(0).count, 1) << "b ran once";

    runs.assign(kMaxRunsOfPair, run_beside("a", "b", 2));
    runs.push_back(run_beside("b", "a", 2));
    runs.insert(runs.end(), 100, run_beside("a", "b", 8));
    EXPECT_DOUBLE_EQ(learn_pairs(both_alone(runs)).at(0).a_share, 0.5) << "older ones are forgotten";
}

TEST(LearnPairs, ComparesRunsAtOnePlaceOnly)
{
    std::vector<SharedRun> runs = both_alone({run_beside("b", "a", 2), run_beside("a", "b", 8, 1, "fast/1")});
    EXPECT_TRUE(learn_pairs(runs).empty()) << "nobody knows how fast a is there alone";

    runs.push_back(run_alone("a", 4, "fast/1"));
    EXPECT_DOUBLE_EQ(learn_pairs(runs).at(0).a_share, 0.5);
}

TEST(LearnPairs, TwoOfAKindAreAPairOfOne)
{
    const std::vector<GpuPair> pairs =
        learn_pairs(both_alone({run_beside("a", "a", 2), run_beside("a", "a", 4), run_beside("a", "a", 4)}));

    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_EQ(pairs[0].a, pairs[0].b);
    EXPECT_DOUBLE_EQ(pairs[0].a_share, 0.25);
    EXPECT_DOUBLE_EQ(pairs[0].b_share, 0.25);
    EXPECT_EQ(pairs[0].count, 3);
}

TEST(LearnPairs, HoldsWhatASingleRunMayTellWithinBounds)
{
    const std::vector<GpuPair> pairs = learn_pairs(both_alone({run_beside("a", "b", 1e6), run_beside("b", "a", 1e-6)}));

    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_EQ(pairs[0].a_share, kMinLearnedShare);
    EXPECT_EQ(pairs[0].b_share, kMaxLearnedShare);
}

TEST(LearnPairs, TakesTheNewestClassOfBothAndTheNewestPairFirst)
{
    std::vector<SharedRun> runs{run_beside("c", "c", 2), run_beside("b", "a", 2), run_beside("a", "b", 2)};
    runs[1].kernel_class = KernelClass::kMemory;
    runs[1].beside_class = KernelClass::kCompute;
    runs[2].kernel_class = KernelClass::kMemory;
    runs.push_back(run_alone("c", 1));

    const std::vector<GpuPair> pairs = learn_pairs(both_alone(runs));

    ASSERT_EQ(pairs.size(), 2U);
    EXPECT_EQ(pairs[0].a, "c");
    EXPECT_EQ(pairs[1].a_class, KernelClass::kCompute);
    EXPECT_EQ(pairs[1].b_class, KernelClass::kMemory);
}

TEST(PairsFor, PutsThoseOfTheKindFirstAndKeepsWithinTheLimit)
{
    const std::vector<GpuPair> pairs{
        {.a = "x", .b = "y"}, {.a = "a", .b = "x"}, {.a = "y", .b = "y"}, {.a = "x", .b = "a"}};

    EXPECT_THAT(pairs_for("a", pairs, 3), ElementsAre(pairs[1], pairs[3], pairs[0]));
    EXPECT_THAT(pairs_for("a", pairs, 1), ElementsAre(pairs[1]));
    EXPECT_EQ(pairs_for("none", pairs, 9).size(), 4U);
}

TEST(ShareTogether, IsThePartOfTheRunWithSomebodyThere)
{
    EXPECT_EQ(share_together({}, 10), 0);
    EXPECT_DOUBLE_EQ(share_together({{-5, 4}}, 10).value(), 0.4);
    EXPECT_DOUBLE_EQ(share_together({{6, 99}, {0, 4}}, 10).value(), 0.8) << "one after the other";
    EXPECT_DOUBLE_EQ(share_together({{0, 6}, {5.6, 10}}, 10).value(), 1) << "as one follows another";
    EXPECT_EQ(share_together({{0, 6}, {5, 10}}, 10), std::nullopt) << "three at the same time";
    EXPECT_EQ(share_together({{0, 10}, {0, 1}}, 10), std::nullopt);
    EXPECT_EQ(share_together({{20, 30}, {-9, -1}}, 10), 0);
    // Sums of rounded numbers, which come to a little more than all of it.
    for (int i = 1; i < 2000; ++i) {
        const double run_s = 1853.093295 + i * 0.001;
        const double turn_s = i * 0.731;
        EXPECT_LE(share_together({{-1, turn_s}, {turn_s - 0.002, run_s + 1}}, run_s).value(), 1);
    }
}

TEST(PairModelOf, KnowsThePairsAndInfersOthersFromThem)
{
    // A kind's own factor times that of the one beside it: classes, unknown here, tell nothing.
    const std::array<std::string, 6> kinds{"k0", "k1", "k2", "k3", "k4", "k5"};
    const std::array<double, 6> own{0.95, 0.9, 0.8, 0.7, 0.6, 0.5};
    const std::array<double, 6> beside{0.9, 0.6, 0.8, 0.5, 0.7, 0.95};
    std::vector<GpuPair> pairs;
    for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = i + 1; j < 6; ++j) {
            if (i != 0 || j != 5)
                pairs.push_back({.a = kinds.at(i),
                                 .b = kinds.at(j),
                                 .a_share = own.at(i) * beside.at(j),
                                 .b_share = own.at(j) * beside.at(i)});
        }
    }
    const PairModel model = pair_model_of(pairs);

    const PairShare measured = model.expect({"k1"}, {"k2"});
    EXPECT_EQ(measured.source, PairSource::kMeasured);
    EXPECT_DOUBLE_EQ(measured.share, 0.9 * 0.8);
    const DeviceExpectation inferred = expect_beside({"k0"}, std::vector{PairMember{"k5"}}, model);
    EXPECT_EQ(inferred.basis, PairSource::kCompleted);
    EXPECT_GT(inferred.newcomer_share, 0.7) << "both are above the average";
    EXPECT_GT(inferred.newcomer_spread, 0) << "what such predictions were off by";
}

TEST(PairModelOf, LeavesOutWhatCannotBe)
{
    const std::vector<GpuPair> pairs{{.a = "a", .b = "b", .a_share = -1, .b_share = 1},
                                     {.a = "a", .b = "c", .a_share = 0.5}};

    const PairModel model = pair_model_of(pairs);

    EXPECT_EQ(model.pair_count(), 1U);
    EXPECT_EQ(model.expect({"a"}, {"b"}).source, PairSource::kClassAverage);
}

} // namespace
} // namespace fathom
