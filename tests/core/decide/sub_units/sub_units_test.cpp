#include "core/decide/sub_units/grant_plan.hpp"
#include "core/decide/sub_units/wanted_count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace fathom {
namespace {

TEST(SubUnitWantedCount, IsTheGoldenScenariosOne)
{
    EXPECT_EQ(wanted_count(100, {.transfer = 1.0, .compute = 0.5}).value(), 50) << "cluster I asks to release 50";
    EXPECT_EQ(wanted_count(100, {.transfer = 0.5, .compute = 1.0}).value(), 200) << "cluster II asks for 100 more";
    EXPECT_EQ(wanted_count(100, {.transfer = 0.5, .compute = 0.25}).value(), 50) << "cluster I at low load";
}

TEST(SubUnitWantedCount, IsRoundedDownToWholeSubUnits)
{
    EXPECT_EQ(wanted_count(10, {.transfer = 0.3, .compute = 0.2}).value(), 6);
    EXPECT_EQ(wanted_count(1, {.transfer = 1.0, .compute = 0.99}).value(), 0);
    EXPECT_EQ(wanted_count(100, {.transfer = 1.0, .compute = 0.29}).value(), 29) << "29, which no double can hold";
    EXPECT_EQ(wanted_count(0, {.transfer = 1.0, .compute = 1.0}).value(), 0);
    EXPECT_EQ(wanted_count(100, {.transfer = 1.0, .compute = 0}).value(), 0);
}

TEST(SubUnitWantedCount, RefusesWhatIsNoLoadAndNoCount)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(wanted_count(-1, {.transfer = 1, .compute = 1}));
    EXPECT_FALSE(wanted_count(2'000'000, {.transfer = 1, .compute = 1}));
    EXPECT_FALSE(wanted_count(100, {.transfer = 1.1, .compute = 1}));
    EXPECT_FALSE(wanted_count(100, {.transfer = 1, .compute = -0.1}));
    EXPECT_FALSE(wanted_count(100, {.transfer = nan, .compute = 1}));
    EXPECT_FALSE(wanted_count(100, {.transfer = 0, .compute = 1}));
    EXPECT_FALSE(wanted_count(1000, {.transfer = 1e-9, .compute = 1}));
}

TEST(SubUnitGrants, GiveTheGoldenScenariosFiftyOfTheHundredAskedFor)
{
    const std::vector<FreedSubUnits> freed{{.release_id = "of I", .count = 50, .turn = 1}};
    const std::vector<SubUnitWish> wishes{{.request_id = "of II", .count = 100, .turn = 2}};

    EXPECT_EQ(plan_grants(freed, wishes), (std::vector<PlannedGrant>{{"of I", "of II", 50}}));
}

TEST(SubUnitGrants, AreEqualButForWhoWishesForLess)
{
    const std::vector<SubUnitWish> wishes{{"a", 100, 1}, {"b", 3, 2}, {"c", 100, 3}};

    EXPECT_EQ(fair_sub_unit_shares(10, wishes), (std::vector<std::int64_t>{4, 3, 3}));
    EXPECT_EQ(fair_sub_unit_shares(1, wishes), (std::vector<std::int64_t>{1, 0, 0})) << "who asked first";
    EXPECT_EQ(fair_sub_unit_shares(0, wishes), (std::vector<std::int64_t>{0, 0, 0}));
    EXPECT_EQ(fair_sub_unit_shares(1000, wishes), (std::vector<std::int64_t>{100, 3, 100}));
}

TEST(SubUnitGrants, TakeTheEarliestReleaseFirst)
{
    const std::vector<FreedSubUnits> freed{{"late", 5, 9}, {"early", 4, 1}};
    const std::vector<SubUnitWish> wishes{{"second", 3, 8}, {"first", 3, 2}};

    EXPECT_EQ(plan_grants(freed, wishes),
              (std::vector<PlannedGrant>{{"early", "first", 3}, {"early", "second", 1}, {"late", "second", 2}}));
}

std::vector<SubUnitWish> some_wishes()
{
    const auto counts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
    std::vector<SubUnitWish> wishes;
    for (const int count : counts)
        wishes.push_back({std::to_string(wishes.size()), count, std::ssize(wishes)});
    return wishes;
}

RC_GTEST_PROP(SubUnitGrants, NeverGrantMoreThanIsFreeOrWished, ())
{
    const std::vector<SubUnitWish> wishes = some_wishes();
    std::vector<FreedSubUnits> freed;
    for (const int count : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)))
        freed.push_back({std::to_string(freed.size()), count, std::ssize(freed)});

    std::map<std::string, std::int64_t> taken;
    std::map<std::string, std::int64_t> given;
    std::int64_t granted = 0;
    for (const PlannedGrant& grant : plan_grants(freed, wishes)) {
        RC_ASSERT(grant.count > 0);
        taken[grant.release_id] += grant.count;
        given[grant.request_id] += grant.count;
        granted += grant.count;
    }

    std::int64_t free_count = 0;
    std::int64_t wished = 0;
    for (const FreedSubUnits& one : freed) {
        RC_ASSERT(taken[one.release_id] <= one.count);
        free_count += one.count;
    }
    for (const SubUnitWish& one : wishes) {
        RC_ASSERT(given[one.request_id] <= one.count);
        wished += one.count;
    }
    RC_ASSERT(granted == std::min(free_count, wished)); // nothing is held back either
}

RC_GTEST_PROP(SubUnitGrants, AreMaxMinFair, ())
{
    const std::vector<SubUnitWish> wishes = some_wishes();
    const std::vector<std::int64_t> shares = fair_sub_unit_shares(*rc::gen::inRange(0, 400), wishes);

    for (std::size_t poor = 0; poor < wishes.size(); ++poor) {
        if (shares[poor] == wishes[poor].count) continue;
        for (std::size_t rich = 0; rich < wishes.size(); ++rich) {
            RC_ASSERT(shares[rich] <= shares[poor] + 1);
            // Of two that wish for more, the later one is not the richer one.
            if (wishes[rich].turn > wishes[poor].turn) RC_ASSERT(shares[rich] <= shares[poor]);
        }
    }
}

RC_GTEST_PROP(SubUnitGrants, DoNotDependOnTheOrderOfWhatIsPassed, ())
{
    std::vector<SubUnitWish> wishes = some_wishes();
    std::vector<FreedSubUnits> freed{{"a", *rc::gen::inRange(0, 40), 1}, {"b", *rc::gen::inRange(0, 40), 2}};
    const std::vector<PlannedGrant> before = plan_grants(freed, wishes);

    std::reverse(freed.begin(), freed.end());
    std::reverse(wishes.begin(), wishes.end());

    RC_ASSERT(plan_grants(freed, wishes) == before);
}

} // namespace
} // namespace fathom
