#include "simulator/what_if/comparison.hpp"
#include "simulator/what_if/network_change.hpp"
#include "simulator/workloads/workload_lines.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCenters = R"({"currency": "CHF", "knowledge": {"run_noise": 0}, "centers": [
  {"name": "alpha", "unit_types": [{"name": "core", "unit_count": 2, "rates": {"*": 1}, "price": {"per_unit_hour": "1"}}]},
  {"name": "beta", "unit_types": [{"name": "gpu", "unit_count": 1, "rates": {"*": 2}}]}]})";

/// Three jobs at once: 1800 s on the GPU, 3600 s on each core; the fourth comes after 10 s and has the GPU next.
constexpr const char* kJobs = R"({"arrival_s": 0, "work_s": 3600}
{"arrival_s": 0, "work_s": 3600}
{"arrival_s": 0, "work_s": 3600, "unit_types": ["alpha/core"]}
{"arrival_s": 10, "work_s": 3600}
)";

WorkloadInput four_jobs()
{
    std::istringstream lines(kJobs);
    return read_job_lines(lines).value();
}

/// The network of kCenters before and after the changes, first come, first served.
Result<Comparison> compare(const std::vector<NetworkChange>& changes, const SimulationHooks& hooks = {})
{
    const CentersFile before = read_centers(kCenters).value();
    Json changed = Json::parse(kCenters);
    apply_changes(changed, changes, "changes").value();
    const CentersFile after = parse_centers(changed).value();
    return compare_networks(
        {.before = {.centers = &before, .policy = "first_come"}, .after = {.centers = &after, .policy = "first_come"}},
        four_jobs(), hooks);
}

const NetworkChange kTwiceAlpha{.kind = NetworkChange::Kind::kScaleUnits, .center = "alpha", .factor = 2};

TEST(Comparison, ShowsWhatTwiceTheUnitsDo)
{
    const Comparison comparison = compare({kTwiceAlpha}).value();

    EXPECT_NEAR(comparison.before.figures.mean_wait_s, 1790.0 / 4, 1e-6);
    EXPECT_EQ(comparison.after.figures.mean_wait_s, 0);
    EXPECT_THAT(comparison.before.waits, ElementsAre(3, 0, 0, 0, 1, 0, 0, 0)) << "1790 s: from 10 min to an hour";
    EXPECT_THAT(comparison.after.waits, ElementsAre(4, 0, 0, 0, 0, 0, 0, 0));
    ASSERT_EQ(comparison.before.centers.size(), 2U);
    EXPECT_EQ(comparison.before.centers[0].center, "alpha");
    EXPECT_EQ(comparison.before.centers[0].unit_count, 2);
    EXPECT_EQ(comparison.after.centers[0].unit_count, 4);
    EXPECT_EQ(comparison.before.centers[0].figures.jobs + comparison.before.centers[1].figures.jobs, 4);
    EXPECT_FALSE(comparison.before.moments.empty());
    EXPECT_EQ(comparison.before.moments.front().at_s, 0);
}

TEST(Comparison, CountsTheJobsThatThenRunNowhere)
{
    const Comparison comparison = compare({{.kind = NetworkChange::Kind::kRemoveCenter, .center = "alpha"}}).value();

    EXPECT_TRUE(comparison.before.left_out.empty());
    ASSERT_EQ(comparison.after.left_out.size(), 1U);
    EXPECT_EQ(comparison.after.left_out[0].count, 1) << "the one that asks for alpha/core";
    EXPECT_EQ(comparison.after.figures.jobs, 3);
}

TEST(Comparison, GivesTheSameFiguresForTheSameSeedAndKnowsNoCostsWithoutPrices)
{
    const Json json = to_json(compare({kTwiceAlpha}).value());
    EXPECT_EQ(json.dump(), to_json(compare({kTwiceAlpha}).value()).dump());
    EXPECT_EQ(json["currency"], "CHF");
    EXPECT_GT(json["before"]["figures"]["cost"], 0);

    const Json without = to_json(compare({{.kind = NetworkChange::Kind::kRemoveCenter, .center = "alpha"}}).value());
    EXPECT_TRUE(without["after"]["figures"]["cost"].is_null()) << "beta has no price";
}

TEST(Comparison, SaysThatItWasStopped)
{
    const std::atomic<bool> stop{true};

    const Comparison comparison = compare({kTwiceAlpha}, {.progress = nullptr, .stop = &stop}).value();

    EXPECT_TRUE(comparison.before.was_stopped);
    EXPECT_TRUE(to_json(comparison)["is_partial"]);
}

TEST(Comparison, RefusesANetworkThatCanRunNoneOfTheJobs)
{
    const CentersFile before = read_centers(kCenters).value();
    const CentersFile other = read_centers(R"({"centers": [{"name": "gamma", "unit_types": [
            {"name": "fpga", "unit_count": 1, "rates": {"other": 1}}]}]})")
                                  .value();

    const Result<Comparison> comparison =
        compare_networks({.before = {.centers = &before}, .after = {.centers = &other}}, four_jobs());

    ASSERT_FALSE(comparison);
    EXPECT_EQ(comparison.error().code, Errc::kInvalid);
    EXPECT_THAT(comparison.error().detail, HasSubstr("no job can run in this network"));
}

} // namespace
} // namespace fathom::simulation
