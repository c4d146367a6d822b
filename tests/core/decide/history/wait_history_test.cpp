#include "core/decide/history/wait_history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace fathom {
namespace {

TEST(WaitHistory, WithoutStartsTheExpectedIsWhatItSays)
{
    const WaitTime wait = WaitHistory().expect("u1", 120);

    EXPECT_EQ(wait.wait_s, 120);
    EXPECT_EQ(wait.low_s, 120);
    EXPECT_EQ(wait.high_s, 120);
}

TEST(WaitHistory, StartsAtOnceTakeWhatDispatchTook)
{
    // Forty starts, 1 to 40 s late: quantile p of 40 is at p · 41, so 4.1, 20.5 and 36.9 s. The network's are those
    // with 8 of 48 parts of the assumption; this unit type's with 8 of 48 parts of the network's.
    std::vector<PastWait> waits;
    for (int i = 1; i <= 40; ++i)
        waits.push_back({"u1", 2, 2.0 + i});
    const WaitHistory history(waits);
    const double network = (40 * 20.5 + 8 * 0.5) / 48;
    const double middle = (40 * 20.5 + 8 * network) / 48;

    EXPECT_NEAR(history.model("u1").extra_s.middle, middle, 1e-9);
    EXPECT_NEAR(history.expect("u1", 1).wait_s, 1 + middle, 1e-9);
    EXPECT_NEAR(history.expect("elsewhere", 0).wait_s, network, 1e-9);
    EXPECT_LT(history.expect("u1", 0).low_s, 5);
    EXPECT_GT(history.expect("u1", 0).high_s, 30);
}

TEST(WaitHistory, LaterStartsScale)
{
    std::vector<PastWait> waits;
    for (int i = 0; i < 200; ++i)
        waits.push_back({"u1", 100.0 + i, (100.0 + i) * (i % 2 == 0 ? 1.9 : 2.1)});
    const WaitTime wait = WaitHistory(waits).expect("u1", 1000);

    EXPECT_NEAR(wait.wait_s, 2000, 150);
    EXPECT_NEAR(wait.low_s, 1900, 120);
    EXPECT_NEAR(wait.high_s, 2100, 60);
}

TEST(WaitHistory, AUnitTypeWithFewStartsLeansOnTheNetwork)
{
    std::vector<PastWait> waits;
    for (int i = 0; i < 500; ++i)
        waits.push_back({"u1", 0, 1});
    waits.push_back({"u2", 0, 500});
    const WaitHistory history(waits);

    EXPECT_NEAR(history.expect("u2", 0).wait_s, 1 + 499.0 / 9, 1) << "one start in nine parts";
    EXPECT_NEAR(history.expect("u1", 0).wait_s, 1, 0.05);
}

TEST(WaitHistory, TheCentersOwnQueueHolds)
{
    EXPECT_EQ(WaitHistory().expect("u1", 10, 300).wait_s, 300);
    EXPECT_EQ(WaitHistory().expect("u1", 400, 300).wait_s, 400);
}

TEST(WaitHistory, LeavesOutWhatIsNoTimeAndNeverAnswersLessThanNothing)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<PastWait> waits{{"u1", 3, 0},  {"u1", 3, 0},         {"u1", 3, 0},        {"u1", -1, 5},
                                      {"u1", 1, -5}, {"u1", infinity, 10}, {"u1", 10, infinity}};
    const WaitHistory history(waits);

    EXPECT_GE(history.expect("u1", 0).low_s, 0);
    EXPECT_LE(history.expect("u1", 0).low_s, history.expect("u1", 0).wait_s);
    EXPECT_EQ(history.expect("u1", infinity).low_s, infinity);
}

TEST(WaitHistory, EightyOfAHundredStartsAreWithinTheInterval)
{
    // Dispatch takes a skewed second or so, later starts are off by a third; unit types differ.
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    std::vector<PastWait> waits;
    int within = 0;
    int judged = 0;
    for (int i = 0; i < 3000; ++i) {
        const int unit = static_cast<int>(random() % 6);
        const double expected_s = random() % 2 == 0 ? 0 : 10.0 + static_cast<double>(random() % 3000);
        const double actual_s = expected_s == 0 ? 0.5 * (1 + unit) * std::exp(0.6 * normal(random))
                                                : expected_s * (0.7 + 0.1 * unit) * std::exp(0.3 * normal(random));
        const std::string name = "u" + std::to_string(unit);
        if (i % 25 == 0 && i >= 100) {
            // Judged before it is learned.
            const WaitHistory history(waits);
            for (int k = 0; k < 40; ++k) {
                const double free_s = k % 2 == 0 ? 0 : 500;
                const double came_s = free_s == 0 ? 0.5 * (1 + unit) * std::exp(0.6 * normal(random))
                                                  : free_s * (0.7 + 0.1 * unit) * std::exp(0.3 * normal(random));
                const WaitTime wait = history.expect(name, free_s);
                ++judged;
                if (came_s >= wait.low_s && came_s <= wait.high_s) ++within;
            }
        }
        waits.push_back({name, expected_s, actual_s});
    }

    EXPECT_NEAR(static_cast<double>(within) / judged, 0.8, 0.05);
}

TEST(WaitHistory, NoLaterStartWaitsLessThanTheBoundSays)
{
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> any(0, 30);
    for (int world = 0; world < 50; ++world) {
        std::vector<PastWait> waits;
        for (int i = 0; i < 40; ++i)
            waits.push_back({i % 2 == 0 ? "u1" : "u2", any(random), any(random)});
        const WaitHistory history(waits);
        for (int i = 0; i < 50; ++i) {
            const double from_s = any(random);
            const double queued_s = i % 3 == 0 ? any(random) : 0;
            const LeastWait bound = history.least_wait("u1", from_s, queued_s);
            for (double expected_s = from_s; expected_s < from_s + 40; expected_s += 0.5) {
                const double wait_s = history.expect("u1", expected_s, queued_s).wait_s;
                ASSERT_LE(bound.wait_s, wait_s) << from_s << " " << expected_s;
                const double grown_s = bound.growth * (expected_s - bound.from_s);
                ASSERT_LE(bound.wait_s + grown_s, wait_s + 1e-9) << from_s << " " << expected_s;
                ASSERT_LE(history.expect("u1", from_s, queued_s).wait_s,
                          history.most_wait_s("u1", expected_s, queued_s))
                    << from_s << " " << expected_s;
            }
        }
    }
}

TEST(WaitHistory, CanBeRebuiltFromItsModels)
{
    std::vector<PastWait> waits(20, PastWait{"u1", 50, 80});
    const WaitHistory history(waits);
    const WaitHistory again = WaitHistory::from({{"u1", history.model("u1")}});

    EXPECT_EQ(again.expect("u1", 70).wait_s, history.expect("u1", 70).wait_s);
    EXPECT_EQ(again.expect("u1", 0).high_s, history.expect("u1", 0).high_s);
}

} // namespace
} // namespace fathom
