#include "core/decide/queue/fair_share.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono_literals;

// The example of the paper, 9 CPU and 18 GB, restated: a network of 9 "core" and 18 "gpu" units.
const std::vector<UnitTypeSize> kNetwork{{"core", 9}, {"gpu", 18}};

TEST(FairShare, TheLargestShareOfAnyUnitTypeCounts)
{
    // A: three tasks of (1 core, 4 gpu): 3/9 of the cores, 12/18 of the gpus. B: two of (3 core, 1 gpu): 6/9 and 2/18.
    const std::vector<ProjectUse> projects{
        {.project = "a", .used_unit_s = {}, .units = {{"core", 3}, {"gpu", 12}}},
        {.project = "b", .used_unit_s = {}, .units = {{"core", 6}, {"gpu", 2}}},
    };

    const auto shares = fair_shares(projects, kNetwork);

    EXPECT_DOUBLE_EQ(shares.at("a").dominant_share, 2.0 / 3);
    EXPECT_DOUBLE_EQ(shares.at("b").dominant_share, 2.0 / 3) << "equal dominant shares: the paper's allocation is fair";
    EXPECT_DOUBLE_EQ(shares.at("a").load, shares.at("b").load);
    EXPECT_DOUBLE_EQ(shares.at("a").load, 2.0 / 3) << "2/3 over its half of the shares, and half of that: nothing used";
}

TEST(FairShare, GivingEachTaskToTheLeastLoadReachesTheAllocationOfThePaper)
{
    std::vector<ProjectUse> projects{{.project = "a", .used_unit_s = {}, .units = {}},
                                     {.project = "b", .used_unit_s = {}, .units = {}}};
    std::int64_t cores = 9;
    std::int64_t gpus = 18;
    const auto give = [&](ProjectUse& project, std::int64_t core, std::int64_t gpu) {
        if (cores < core || gpus < gpu) return false;
        cores -= core;
        gpus -= gpu;
        project.units["core"] += core;
        project.units["gpu"] += gpu;
        return true;
    };

    for (;;) {
        const auto shares = fair_shares(projects, kNetwork);
        const bool is_a_first = shares.at("a").load <= shares.at("b").load;
        if (!(is_a_first ? give(projects[0], 1, 4) : give(projects[1], 3, 1))) break;
    }

    EXPECT_EQ(projects[0].units.at("core"), 3) << "three tasks";
    EXPECT_EQ(projects[0].units.at("gpu"), 12);
    EXPECT_EQ(projects[1].units.at("core"), 6) << "two tasks";
    EXPECT_EQ(projects[1].units.at("gpu"), 2);
}

TEST(FairShare, WhatWasUsedCountsByTheSizeOfTheUnitType)
{
    // 90 s of 9 cores and 180 s of 18 gpus are the same: ten seconds of the whole unit type.
    const std::vector<ProjectUse> projects{
        {.project = "a", .used_unit_s = {{"core", 90}}, .units = {}},
        {.project = "b", .used_unit_s = {{"gpu", 180}}, .units = {}},
        {.project = "c", .used_unit_s = {{"gpu", 360}}, .units = {}},
    };

    const auto shares = fair_shares(projects, kNetwork);

    EXPECT_DOUBLE_EQ(shares.at("a").used_share, 0.25);
    EXPECT_DOUBLE_EQ(shares.at("b").used_share, 0.25);
    EXPECT_DOUBLE_EQ(shares.at("c").used_share, 0.5);
    EXPECT_DOUBLE_EQ(shares.at("c").load, 0.75) << "(0 + 1/2) / 2 over a third";
}

TEST(FairShare, SharesWeigh)
{
    const std::vector<ProjectUse> projects{
        {.project = "a", .share = 3, .used_unit_s = {{"core", 300}}, .units = {{"core", 3}}},
        {.project = "b", .share = 1, .used_unit_s = {{"core", 100}}, .units = {{"core", 1}}},
    };

    const auto shares = fair_shares(projects, kNetwork);

    EXPECT_DOUBLE_EQ(shares.at("a").load, shares.at("b").load) << "three times as much for three times the share";
}

TEST(FairShare, AUnitTypeThatIsGoneDoesNotCount)
{
    const std::vector<ProjectUse> projects{{.project = "a", .used_unit_s = {{"gone", 1e9}}, .units = {}},
                                           {.project = "b", .used_unit_s = {{"core", 1}}, .units = {{"gone", 2}}}};

    const auto shares = fair_shares(projects, kNetwork);

    EXPECT_EQ(shares.at("a").load, 0);
    EXPECT_EQ(shares.at("b").dominant_share, 1) << "it still holds all that is left of it";
}

// Of four unit types it has used the second and the last, and others that are gone, before, between and behind these.
TEST(FairShare, EachAmountMeetsTheSizeOfItsOwnUnitType)
{
    const std::vector<UnitTypeSize> four{{"d", 5}, {"b", 2}, {"c", 1000}, {"a", 1000}};
    const std::vector<ProjectUse> projects{{.project = "all",
                                            .used_unit_s = {{"Z", 7}, {"b", 10}, {"bb", 7}, {"d", 50}, {"e", 7}},
                                            .units = {{"b", 1}, {"c", 10}}},
                                           {.project = "half", .used_unit_s = {{"a", 15000}}, .units = {}}};

    const auto shares = fair_shares(projects, four);

    EXPECT_DOUBLE_EQ(shares.at("all").dominant_share, 0.5);
    EXPECT_DOUBLE_EQ(shares.at("all").used_share, (10.0 / 2 + 50.0 / 5) / (10.0 / 2 + 50.0 / 5 + 15));
}

TEST(FairShare, EachFurtherTakeOfAProjectWeighsMore)
{
    // Of 9 cores; "a" has three quarters of all shares and holds one already, "b" has never been heard of.
    const std::vector<ProjectUse> projects{{.project = "a", .share = 3, .used_unit_s = {}, .units = {{"core", 1}}}};
    const std::vector<PlannedTake> takes{{"a", "core", 1}, {"a", "core", 1}, {"b", "core", 1}, {"b", "core", 1}};

    const std::vector<double> loads = progressive_loads(projects, kNetwork, takes);

    ASSERT_EQ(loads.size(), 4U);
    EXPECT_DOUBLE_EQ(loads[0], 1.0 / 9 / 2 / 0.75);
    EXPECT_DOUBLE_EQ(loads[1], 2.0 / 9 / 2 / 0.75);
    EXPECT_DOUBLE_EQ(loads[2], 0);
    EXPECT_DOUBLE_EQ(loads[3], 1.0 / 9 / 2 / 0.25);
}

// To the last bit: what is simulated must not depend on which of the two is asked.
TEST(FairShare, NumbersGiveWhatNamesGive)
{
    const std::vector<std::int64_t> counts{7, 3, 11};
    const std::vector<std::int64_t> units{2, 0, 5, 1, 3, 0, 0, 0, 0};
    const std::vector<double> used_unit_s{0.1, 12.7, 3e5, 77.7, 0, 1.0 / 3, 0, 0, 0};
    const std::vector<NumberedTake> takes{{2, 1, 1}, {0, 0, 2}, {0, 0, 1}, {1, 2, 4}, {2, 1, 1}, {1, 0, 0}, {0, 2, 0}};
    std::vector<UnitTypeSize> sizes;
    for (std::size_t type = 0; type < counts.size(); ++type)
        sizes.push_back({"type_" + std::to_string(type), counts[type]});
    std::vector<ProjectUse> uses;
    for (std::size_t project = 0; project < 3; ++project) {
        ProjectUse& use = uses.emplace_back();
        use.project = "project_" + std::to_string(project);
        for (std::size_t type = 0; type < counts.size(); ++type) {
            use.units[sizes[type].unit_type] = units[project * counts.size() + type];
            use.used_unit_s[sizes[type].unit_type] = used_unit_s[project * counts.size() + type];
        }
    }
    std::vector<PlannedTake> named;
    for (const NumberedTake& take : takes)
        named.push_back({uses[take.project].project, sizes[take.unit_type].unit_type, take.units});

    EXPECT_EQ(progressive_loads({counts, units, used_unit_s}, takes), progressive_loads(uses, sizes, named));
}

TEST(FairShare, TakesBeyondAllThatThereIsStillDiffer)
{
    const std::vector<UnitTypeSize> one{{"core", 1}};
    const std::vector<PlannedTake> takes(5, {"a", "core", 1});

    const std::vector<double> loads = progressive_loads({}, one, takes);

    EXPECT_DOUBLE_EQ(loads[3], 1.5);
    EXPECT_DOUBLE_EQ(loads[4], 2) << "four units of one, in half of the load";
}

TEST(FairShare, HalfIsLeftAfterTheHalfLife)
{
    EXPECT_EQ(decay(0s, 168h), 1);
    EXPECT_EQ(decay(-5s, 168h), 1) << "clocks differ";
    EXPECT_DOUBLE_EQ(decay(168h, 168h), 0.5);
    EXPECT_DOUBLE_EQ(decay(336h, 168h), 0.25);
    EXPECT_EQ(decay(1s, 0s), 0);
}

ProjectUse arbitrary_project(int number)
{
    ProjectUse project;
    project.project = "p" + std::to_string(number);
    project.share = *rc::gen::element(0.5, 1.0, 2.0, 10.0);
    for (const char* unit_type : {"core", "gpu", "gone"}) {
        project.units[unit_type] = *rc::gen::inRange<std::int64_t>(0, 20);
        project.used_unit_s[unit_type] = static_cast<double>(*rc::gen::inRange(0, 100000));
    }
    return project;
}

std::vector<ProjectUse> arbitrary_projects()
{
    std::vector<ProjectUse> projects;
    const int count = *rc::gen::inRange(1, 6);
    for (int i = 0; i < count; ++i)
        projects.push_back(arbitrary_project(i));
    return projects;
}

RC_GTEST_PROP(FairShareProperties, OrderDoesNotMatter, ())
{
    const std::vector<ProjectUse> projects = arbitrary_projects();
    std::vector<ProjectUse> turned(projects.rbegin(), projects.rend());
    const std::vector<UnitTypeSize> turned_network(kNetwork.rbegin(), kNetwork.rend());

    const auto shares = fair_shares(projects, kNetwork);
    const auto again = fair_shares(turned, turned_network);

    for (const auto& [name, share] : shares)
        RC_ASSERT(again.at(name).load == share.load);
}

RC_GTEST_PROP(FairShareProperties, AGreaterShareNeverMeansMoreLoad, ())
{
    std::vector<ProjectUse> projects = arbitrary_projects();
    const auto before = fair_shares(projects, kNetwork);

    projects[0].share *= *rc::gen::element(1.5, 3.0, 100.0);
    const auto after = fair_shares(projects, kNetwork);

    RC_ASSERT(after.at("p0").load <= before.at("p0").load * (1 + 1e-12));
    for (std::size_t i = 1; i < projects.size(); ++i)
        RC_ASSERT(after.at(projects[i].project).load >= before.at(projects[i].project).load * (1 - 1e-12));
}

RC_GTEST_PROP(FairShareProperties, TakingMoreNeverMeansLessLoad, ())
{
    std::vector<ProjectUse> projects = arbitrary_projects();
    const auto before = fair_shares(projects, kNetwork);

    ++projects[0].units["core"];
    projects[0].used_unit_s["gpu"] += 1000;
    const auto after = fair_shares(projects, kNetwork);

    RC_ASSERT(after.at("p0").load >= before.at("p0").load * (1 - 1e-12));
    RC_ASSERT(after.at("p0").dominant_share <= 1);
    RC_ASSERT(after.at("p0").used_share <= 1);
}

TEST(Quota, ALimitOfNothingLimitsNothing)
{
    const QuotaUse much{.units = 1000, .score_hours = 1e9, .cost = 1e9};

    EXPECT_EQ(quota_obstacle({}, much, much), "");
    EXPECT_FALSE(is_beyond_quota({}, much));
}

TEST(Quota, SaysWhatIsUsedAndWhatIsMissing)
{
    EXPECT_EQ(quota_obstacle({.max_units = 8}, {.units = 6, .score_hours = 0, .cost = 0},
                             {.units = 4, .score_hours = 0, .cost = 0}),
              "its project holds 6 of the 8 units that it may hold at once, and this takes 4");
    EXPECT_EQ(quota_obstacle({.max_score_hours = 100}, {.units = 0, .score_hours = 99.5, .cost = 0},
                             {.units = 1, .score_hours = 0.75, .cost = 0}),
              "its project has taken 99.50 of its 100.00 score-hours of this month, and this takes about 0.75");
    EXPECT_EQ(quota_obstacle({.max_cost = 50}, {.units = 0, .score_hours = 0, .cost = 48},
                             {.units = 1, .score_hours = 0, .cost = 2.5}),
              "its project has spent 48.00 of the 50.00 that it may in this month, and this costs about 2.50");
}

TEST(Quota, WhatFillsItExactlyFits)
{
    const Quota quota{.max_units = 8, .max_score_hours = 0.3, .max_cost = 50};

    // 0.1 + 0.2 is a little more than 0.3 in binary.
    EXPECT_EQ(quota_obstacle(quota, {.units = 4, .score_hours = 0.1, .cost = 25},
                             {.units = 4, .score_hours = 0.2, .cost = 25}),
              "");
}

TEST(Quota, WaitingDoesNotHelpAJobThatIsMoreThanAll)
{
    const Quota quota{.max_units = 8};

    EXPECT_FALSE(is_beyond_quota(quota, {.units = 8, .score_hours = 0, .cost = 0}));
    EXPECT_TRUE(is_beyond_quota(quota, {.units = 9, .score_hours = 0, .cost = 0}));
}

} // namespace
} // namespace fathom
