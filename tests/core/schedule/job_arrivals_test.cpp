#include "core/schedule/job_arrivals.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

UnitTypeView unit_type(const std::string& id, std::int64_t units)
{
    UnitTypeView view;
    view.id = UnitTypeId{id};
    view.unit_count = units;
    return view;
}

/// So many jobs that run 100 s on a unit of "slow" and so long on one of "fast".
std::vector<JobArrival> jobs(int count, double on_fast_s)
{
    std::vector<JobArrival> arrivals;
    for (int i = 0; i < count; ++i)
        arrivals.push_back({"job_" + std::to_string(i), {{"fast", 1, on_fast_s}, {"slow", 1, 100}}});
    return arrivals;
}

TEST(JobArrivals, SayNothingBeforeFiftyHaveCome)
{
    const std::vector types{unit_type("fast", 1), unit_type("slow", 1), unit_type("other", 1)};
    EXPECT_TRUE(arrival_shadow_prices(jobs(49, 25), types).empty());

    const auto shadow_prices = arrival_shadow_prices(jobs(50, 25), types);
    // Jobs that are four times as fast there make a unit worth four: 1.6 and 0.4, the mean is 1.
    EXPECT_NEAR(shadow_prices.at("fast"), 1.6, 0.05);
    EXPECT_NEAR(shadow_prices.at("slow"), 0.4, 0.05);
    EXPECT_FALSE(shadow_prices.contains("other")) << "no job could go there";
}

TEST(JobArrivals, KnowUnitTypesByIdWhereTheCatalogChanges)
{
    const auto shadow_prices =
        arrival_shadow_prices(jobs(50, 25), std::vector{unit_type("new", 4), unit_type("fast", 1)});
    EXPECT_FALSE(shadow_prices.contains("new"));
    EXPECT_EQ(shadow_prices.at("fast"), 1) << "all that is left of what they could use";
}

TEST(JobArrivals, GoWhereTheyWouldGoAndOnlyWhereTheirRunTimeIsKnown)
{
    Decision decision;
    for (const double run_s : {20.0, 0.0, 30.0}) {
        Candidate candidate;
        candidate.unit_type_id = {"ut_" + std::to_string(static_cast<int>(run_s))};
        candidate.unit_count = 2;
        candidate.feasible = run_s < 30;
        candidate.prediction.run_s = run_s;
        candidate.offers = {{.unit_count = 2, .run_s = run_s, .objective = run_s}};
        decision.candidates.push_back(candidate);
    }
    EXPECT_TRUE(arrival_places({}, decision).empty()) << "it can go nowhere";
    decision.winner = 0;

    const std::vector<JobArrival::Place> places = arrival_places({}, decision);
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places[0].unit_type_id, "ut_20");
    EXPECT_EQ(places[0].unit_count, 2);
    EXPECT_EQ(places[0].run_s, 20);
}

} // namespace
} // namespace fathom
