#include "core/decide/trust/drift.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

/// A network whose jobs are wrong by their type, and by their type on each unit type.
class Jobs {
  public:
    explicit Jobs(unsigned seed, double noise = 0.1) : random_(seed), noise_(noise) {}

    double normal() { return normal_(random_); }
    /// `count` jobs of a type, one a minute from `start` on, off by a factor.
    void add(const std::string& unit_type, const std::string& job_type, int count, double factor, Timestamp start)
    {
        for (int i = 0; i < count; ++i)
            residuals.push_back({{unit_type, job_type, 10, 10 * factor * std::exp(noise_ * normal())},
                                 start + i * std::chrono::minutes(1)});
    }

    std::vector<TimedResidual> residuals;

  private:
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    double noise_;
};

const Timestamp kDriftNow = parse_rfc3339("2026-11-21T12:00:00Z").value();
const Timestamp kStart = kDriftNow - 24h;

TEST(FindDrift, NoticesThirtyPercentWithinTwentyJobs)
{
    int found = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Jobs jobs(seed);
        std::map<std::string, Timestamp> measured_at;
        for (const char* unit_type : {"a", "b", "c", "d", "e"}) {
            jobs.add(unit_type, "t", 30, 1.2, kStart);
            measured_at[unit_type] = kStart;
        }
        jobs.add("c", "t", 20, 1.2 * 1.3, kStart + 2h);
        const std::vector<Drift> drifts = find_drift(jobs.residuals, measured_at);
        if (drifts.size() != 1) continue;
        EXPECT_EQ(drifts[0].unit_type, "c");
        EXPECT_GT(drifts[0].ratio, 1.1);
        ++found;
    }
    EXPECT_GE(found, 195);
}

TEST(FindDrift, NoticesItEarlyWithAnEstimateOfIt)
{
    Jobs jobs(1);
    jobs.add("a", "t", 30, 0.9, kStart);
    jobs.add("a", "t", 10, 0.9 * 1.5, kStart + 2h);

    const std::vector<Drift> drifts = find_drift(jobs.residuals, {{"a", kStart + 1h}});

    ASSERT_EQ(drifts.size(), 1U);
    EXPECT_NEAR(drifts[0].ratio, 1.5, 0.15);
    EXPECT_LE(drifts[0].job_count, 10);
    EXPECT_THAT(drifts[0].reason, ::testing::HasSubstr("jobs took 1."));
}

TEST(FindDrift, NoticesWhatBecameFaster)
{
    Jobs jobs(2);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 0.7, kStart + 2h);

    const std::vector<Drift> drifts = find_drift(jobs.residuals, {{"a", kStart}});

    ASSERT_EQ(drifts.size(), 1U);
    EXPECT_LT(drifts[0].ratio, 0.8);
}

TEST(FindDrift, JoinsTheWordOfSeveralJobTypes)
{
    Jobs jobs(3);
    for (const auto& [type, factor] : {std::pair{"r", 0.5}, {"s", 1.0}, {"t", 3.0}}) {
        jobs.add("a", type, 15, factor, kStart);
        jobs.add("a", type, 7, factor * 1.3, kStart + 2h);
    }

    EXPECT_EQ(find_drift(jobs.residuals, {{"a", kStart}}).size(), 1U);
}

TEST(FindDrift, HonestNetworksAreSeldomAccused)
{
    int accused = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        Jobs jobs(seed, 0.1 + 0.05 * (seed % 5));
        std::map<std::string, Timestamp> measured_at;
        std::map<std::string, double> of_type;
        for (const char* type : {"r", "s", "t"})
            of_type[type] = std::exp(0.5 * jobs.normal());
        for (const char* unit_type : {"a", "b", "c", "d", "e", "f"}) {
            measured_at[unit_type] = kStart + 30min * (seed % 3);
            for (const auto& [type, factor] : of_type)
                jobs.add(unit_type, type, 40, factor * std::exp(0.2 * jobs.normal()), kStart);
        }
        accused += find_drift(jobs.residuals, measured_at).empty() ? 0 : 1;
    }
    EXPECT_LE(accused, 15) << "1 % of 1 000, with the luck of the draw";
}

TEST(FindDrift, HonestNetworksWithoutAPastAreSeldomAccused)
{
    int accused = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        Jobs jobs(seed);
        std::map<std::string, Timestamp> measured_at;
        for (const char* unit_type : {"a", "b", "c", "d"}) {
            measured_at[unit_type] = kStart - 1s;
            jobs.add(unit_type, "t", 8, std::exp(0.2 * jobs.normal()), kStart);
        }
        accused += find_drift(jobs.residuals, measured_at).empty() ? 0 : 1;
    }
    EXPECT_LE(accused, 15);
}

TEST(FindDrift, IsNotFooledByOneOddJob)
{
    Jobs jobs(4);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 1, 1000, kStart + 1h);
    jobs.add("a", "t", 9, 1, kStart + 2h);

    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart}}).empty());
}

TEST(FindDrift, AJobTypeThatChangedEverywhereSaysNothingOfOnePlace)
{
    Jobs jobs(5);
    std::map<std::string, Timestamp> measured_at;
    for (const char* unit_type : {"a", "b", "c"}) {
        jobs.add(unit_type, "t", 30, 1, kStart);
        jobs.add(unit_type, "t", 20, 2, kStart + 2h);
        measured_at[unit_type] = kStart;
    }

    EXPECT_TRUE(find_drift(jobs.residuals, measured_at).empty());
}

TEST(FindDrift, WhatWasMeasuredAgainIsQuietAtOnce)
{
    Jobs jobs(6);
    for (const char* unit_type : {"a", "b"})
        jobs.add(unit_type, "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 1.5, kStart + 2h);
    ASSERT_EQ(find_drift(jobs.residuals, {{"a", kStart}, {"b", kStart}}).size(), 1U);

    // Measured, so that what is predicted fits again; the slow runs of before still stand there.
    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart + 3h}, {"b", kStart}}).empty());
    jobs.add("a", "t", 12, 1, kStart + 4h);

    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart + 3h}, {"b", kStart}}).empty());
}

TEST(FindDrift, WithoutAPastOnlyMuchMoreThanOthersCounts)
{
    Jobs jobs(7);
    for (const char* unit_type : {"a", "b", "c"})
        jobs.add(unit_type, "t", 20, 1, kStart);
    const auto measured_at = [](const char* unit_type) {
        return std::map<std::string, Timestamp>{{unit_type, kStart}};
    };
    jobs.add("near", "t", 20, 1.4, kStart + 1h);
    jobs.add("far", "t", 20, 2.5, kStart + 1h);

    EXPECT_TRUE(find_drift(jobs.residuals, measured_at("near")).empty());
    EXPECT_EQ(find_drift(jobs.residuals, measured_at("far")).size(), 1U);
}

TEST(FindDrift, LeavesOutWhatWasNeverMeasuredAndTimesThatAreNone)
{
    Jobs jobs(8);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 3, kStart + 2h);
    EXPECT_TRUE(find_drift(jobs.residuals, {}).empty());

    for (TimedResidual& one : jobs.residuals)
        one.residual.predicted_s = 0;
    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart}}).empty());
    EXPECT_TRUE(find_drift({}, {{"a", kStart}}).empty());
}

TEST(FindDrift, NoticesASlowUnitTypeInALargeNetworkWithoutAPast)
{
    Jobs jobs(7);
    std::map<std::string, Timestamp> measured_at{{"slow", kStart - 1h}};
    jobs.add("slow", "scf", 5, 3, kStart);
    for (int i = 0; i < 4000; ++i) {
        const std::string unit_type = "u" + std::to_string(i);
        jobs.add(unit_type, "scf", 5, 1, kStart);
        measured_at[unit_type] = kStart - 1h;
    }
    const std::vector<Drift> drifts = find_drift(jobs.residuals, measured_at);

    // 1 % over 12 003 looks, with five runs: the rank sum alone never says so much.
    EXPECT_TRUE(drifts.empty());
    EXPECT_EQ(find_drift(jobs.residuals, {{"slow", kStart - 1h}}).size(), 1U);
}

TEST(FindDrift, DoesNotDependOnOrder)
{
    Jobs jobs(9);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 1.3, kStart + 2h);
    const std::vector<Drift> forwards = find_drift(jobs.residuals, {{"a", kStart}});
    std::reverse(jobs.residuals.begin(), jobs.residuals.end());

    const std::vector<Drift> backwards = find_drift(jobs.residuals, {{"a", kStart}});

    ASSERT_EQ(forwards.size(), 1U);
    ASSERT_EQ(backwards.size(), 1U);
    EXPECT_EQ(forwards[0].ratio, backwards[0].ratio);
}

} // namespace
} // namespace fathom
