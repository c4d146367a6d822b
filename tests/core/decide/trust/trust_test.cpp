#include "core/decide/trust/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

/// `count` jobs of a type on a unit type that take `slowdown` times what was predicted, with 10 % of noise.
void add_jobs(std::vector<RunResidual>& residuals, const std::string& unit_type, const std::string& job_type, int count,
              double slowdown, unsigned seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (int i = 0; i < count; ++i)
        residuals.push_back({unit_type, job_type, 10, 10 * slowdown * std::exp(0.1 * normal(random))});
}

TEST(Trust, AnErrorThatAllShareSaysNothingAboutOne)
{
    std::vector<RunResidual> residuals;
    for (const char* unit_type : {"a", "b", "c"})
        add_jobs(residuals, unit_type, "t", 30, 1.5, static_cast<unsigned>(unit_type[0]));

    for (const auto& [unit_type, trust] : judge_trust(residuals))
        EXPECT_EQ(trust.factor, 1) << unit_type;
}

TEST(Trust, ACenterWhoseJobsAreSlowerThanItsProbesLosesScore)
{
    std::vector<RunResidual> residuals;
    add_jobs(residuals, "honest1", "t", 20, 1.1, 1);
    add_jobs(residuals, "honest2", "t", 20, 1.1, 2);
    add_jobs(residuals, "cheat", "t", 20, 2.2, 3);

    const std::map<std::string, Trust> trust = judge_trust(residuals);

    EXPECT_EQ(trust.at("honest1").factor, 1);
    EXPECT_EQ(trust.at("honest2").factor, 1);
    // ln 2 = 0.69 over 20 jobs, shrunk by 20 / 28: a slowdown of 1.64.
    EXPECT_NEAR(trust.at("cheat").slowdown, 1.64, 0.08);
    EXPECT_NEAR(trust.at("cheat").factor, 1 / 1.64, 0.04);
}

TEST(Trust, OneOddJobCondemnsNobody)
{
    std::vector<RunResidual> residuals;
    add_jobs(residuals, "a", "t", 1, 1.4, 1);
    add_jobs(residuals, "b", "t", 20, 1, 2);

    EXPECT_EQ(judge_trust(residuals).at("a").factor, 1);
}

TEST(Trust, AJobTypeThatOnlyOneHasRunIsNoEvidence)
{
    std::vector<RunResidual> residuals;
    add_jobs(residuals, "a", "t", 50, 3, 1);

    const Trust trust = judge_trust(residuals).at("a");

    EXPECT_EQ(trust.factor, 1);
    EXPECT_EQ(trust.job_count, 0);
}

TEST(Trust, WhatNoErrorOfPredictionExplainsCountsWithoutComparison)
{
    std::vector<RunResidual> residuals;
    add_jobs(residuals, "a", "t", 3, 12, 1);
    EXPECT_EQ(judge_trust(residuals).at("a").factor, 1) << "three jobs are too few";

    add_jobs(residuals, "a", "t", 5, 12, 2);
    // ln(11.8 / 3) = 1.37 of eight jobs, shrunk by 8 / 16: a slowdown of 1.98.
    EXPECT_NEAR(judge_trust(residuals).at("a").slowdown, 1.98, 0.1);
    EXPECT_NEAR(judge_trust(residuals).at("a").factor, 1 / 1.98, 0.03);
}

TEST(Trust, FindingsHalveItAndVerifiedResultsGiveItBack)
{
    const std::vector<TrustFinding> fresh{{"a", 0}, {"a", 0}, {"b", 8}};

    const auto trust = judge_trust({}, fresh);

    EXPECT_DOUBLE_EQ(trust.at("a").factor, 0.25);
    EXPECT_EQ(trust.at("a").finding_count, 2);
    EXPECT_DOUBLE_EQ(trust.at("b").factor, std::exp2(-0.5));
    EXPECT_EQ(trust.at("b").slowdown, 1);
}

TEST(Trust, TimesThatAreNoTimesAreLeftOut)
{
    const std::vector<RunResidual> residuals{
        {"a", "t", 0, 1}, {"a", "t", 1, 0}, {"b", "t", -1, 1}, {"b", "t", 1, std::nan("")}};

    for (const auto& [unit_type, trust] : judge_trust(residuals))
        EXPECT_EQ(trust.job_count, 0) << unit_type;
}

RC_GTEST_PROP(TrustProperty, OrderDoesNotMatterAndFactorsAreBounded, ())
{
    std::vector<RunResidual> residuals;
    const int count = *rc::gen::inRange(0, 60);
    for (int i = 0; i < count; ++i)
        residuals.push_back({*rc::gen::element<std::string>("a", "b", "c"), *rc::gen::element<std::string>("s", "t"),
                             *rc::gen::inRange(1, 1000) / 10.0, *rc::gen::inRange(1, 1000) / 10.0});
    std::vector<RunResidual> reversed(residuals.rbegin(), residuals.rend());
    const auto trust = judge_trust(residuals);
    const auto other = judge_trust(reversed);

    RC_ASSERT(trust.size() == other.size());
    for (const auto& [unit_type, one] : trust) {
        RC_ASSERT(to_json(one) == to_json(other.at(unit_type)));
        RC_ASSERT(one.factor > 0 && one.factor <= 1);
        RC_ASSERT(one.low <= one.slowdown && one.slowdown <= one.high);
    }
}

} // namespace
} // namespace fathom
