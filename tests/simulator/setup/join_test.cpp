#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/setup/join_scenario.hpp"
#include "simulator/workloads/workload_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCenters = R"({
  "job_types": [{"name": "fixed", "scaling": "fixed"}],
  "centers": [
    {"name": "alpha", "unit_types": [{"name": "core", "unit_count": 10, "rates": {"fft": 2, "fixed": 1, "*": 0.5}},
                                     {"name": "v100", "unit_count": 4, "rates": {"fft": 8}}]},
    {"name": "beta", "unit_types": [{"name": "core", "unit_count": 20, "rates": {"fft": 3}}]}]})";

CentersFile centers()
{
    return read_centers(kCenters).value();
}

WorkloadInput jobs(const std::string& text)
{
    std::istringstream stream(text);
    return read_job_lines(stream).value();
}

std::vector<double> rates_of(const Network& network, const std::string& job_type)
{
    std::vector<double> rates;
    for (std::size_t type = 0; type < network.job_types.size(); ++type) {
        for (const UnitType& unit_type : network.unit_types)
            if (network.job_types[type].name == job_type) rates.push_back(unit_type.rates[type].rate);
    }
    return rates;
}

TEST(JoinScenario, FindsJobTypesByNameElseUnderTheStar)
{
    const WorkloadInput input = jobs(R"({"arrival_s": 0, "work_s": 1, "job_type": "new"}
{"arrival_s": 0, "work_s": 1, "job_type": "fft"})");

    const Scenario scenario = join_scenario(centers(), input).value().scenario;

    EXPECT_THAT(rates_of(scenario.network, "fft"), ElementsAre(2, 8, 3));
    EXPECT_THAT(rates_of(scenario.network, "new"), ElementsAre(0.5, 0, 0));
    EXPECT_EQ(scenario.network.job_types[scenario.workload.jobs[0].job_type].name, "new");
    EXPECT_EQ(scenario.network.job_types[scenario.workload.jobs[1].job_type].name, "fft");
    EXPECT_EQ(scenario.workload.end_counted, 2U);
}

TEST(JoinScenario, TakesWhatTheWorkloadTellsOfUnitTypesAndScaling)
{
    WorkloadInput input = jobs(R"({"arrival_s": 0, "work_s": 1, "job_type": "new"}
{"arrival_s": 0, "work_s": 1, "job_type": "fft"}
{"arrival_s": 0, "work_s": 1, "job_type": "fixed"})");
    for (JobType& type : input.job_types)
        type.scaling = Scaling::kLinear;
    input.measured = {{"v100", {{6, {}}, {99, {}}, {99, {}}}}};

    const Network network = join_scenario(centers(), input).value().scenario.network;

    EXPECT_THAT(rates_of(network, "new"), ElementsAre(0.5, 6, 0));
    EXPECT_THAT(rates_of(network, "fft"), ElementsAre(2, 8, 3)); // the centers file wins
    for (const JobType& type : network.job_types)
        EXPECT_EQ(type.scaling, type.name == "fixed" ? Scaling::kFixed : Scaling::kLinear) << type.name;
}

TEST(JoinScenario, LeavesOutByRuleWhatCannotRun)
{
    const WorkloadInput input = jobs(R"({"arrival_s": 0, "work_s": 1, "job_type": "fft", "unit_count": 20}
{"arrival_s": 0, "work_s": 1, "job_type": "fft", "unit_count": 21}
{"arrival_s": 1, "work_s": 1, "job_type": "new", "unit_count": 11}
{"arrival_s": 2, "work_s": 1, "job_type": "new", "center": "beta"}
{"arrival_s": 3, "work_s": 1, "job_type": "fft", "center": "gamma"}
{"arrival_s": 4, "work_s": 1, "job_type": "fft", "unit_types": ["tpu"]}
{"arrival_s": 5, "work_s": 1, "job_type": "fft", "unit_types": ["tpu", "v100"]}
{"arrival_s": 6, "work_s": 1, "job_type": "fft", "unit_types": ["alpha/core"]}
{"arrival_s": 7, "work_s": 1, "job_type": "fft", "unit_types": ["core"], "center": "beta"})");

    const JoinedScenario joined = join_scenario(centers(), input).value();

    const Scenario& scenario = joined.scenario;
    EXPECT_THAT(joined.lines, ElementsAre(1, 7, 8, 9));
    const auto unit_types_of = [&](std::size_t job) {
        return scenario.workload.details[scenario.workload.jobs[job].details].unit_types;
    };
    EXPECT_THAT(unit_types_of(1), ElementsAre(1));
    EXPECT_THAT(unit_types_of(2), ElementsAre(0));
    EXPECT_THAT(unit_types_of(3), ElementsAre(0, 2));
    ASSERT_EQ(scenario.skips.size(), 3U);
    EXPECT_EQ(scenario.skips[0].rule, "larger than any unit type");
    EXPECT_THAT(scenario.skips[0].lines, ElementsAre(2, 3));
    EXPECT_EQ(scenario.skips[1].rule, "no unit type for it");
    EXPECT_THAT(scenario.skips[1].lines, ElementsAre(4));
    EXPECT_EQ(scenario.skips[2].rule, "for a center or unit type that is not there");
    EXPECT_THAT(scenario.skips[2].lines, ElementsAre(5, 6));
}

TEST(JoinScenario, CountsTheRangeThatIsAskedFor)
{
    const WorkloadInput input = jobs(R"({"arrival_s": 0, "work_s": 1}
{"arrival_s": 1, "work_s": 1}
{"arrival_s": 2, "work_s": 1})");

    const Workload workload =
        join_scenario(centers(), input, {.counted = CountedRange{1, 2}}).value().scenario.workload;
    EXPECT_EQ(workload.first_counted, 1U);
    EXPECT_EQ(workload.end_counted, 2U);
    EXPECT_EQ(join_scenario(centers(), input, {.counted = CountedRange{1, {}}}).value().scenario.workload.end_counted,
              3U);
    EXPECT_THAT(join_scenario(centers(), input, {.counted = CountedRange{1, 4}}).error().detail,
                HasSubstr("1:4 is not within the 3 jobs"));
    EXPECT_FALSE(join_scenario(centers(), input, {.counted = CountedRange{3, 3}}));
}

TEST(JoinScenario, StretchesArrivalsToALoad)
{
    const WorkloadInput input = jobs(R"({"arrival_s": 100, "work_s": 1}
{"arrival_s": 101, "work_s": 3}
{"arrival_s": 103, "work_s": 1})");

    const Scenario scenario = join_scenario(centers(), input, {.load = 0.5}).value().scenario;

    EXPECT_NEAR(load_of(scenario), 0.5, 1e-6);
    const std::vector<Job>& stretched = scenario.workload.jobs;
    EXPECT_EQ(stretched[0].arrival_s, 100);
    EXPECT_NEAR((stretched[2].arrival_s - 100) / (stretched[1].arrival_s - 100), 3, 1e-9);
    EXPECT_THAT(join_scenario(centers(), jobs(R"({"arrival_s": 1, "work_s": 1})"), {.load = 0.5}).error().detail,
                HasSubstr("all counted jobs come at one moment"));
    for (const double load : {1e-300, -1.0, std::nan("")})
        EXPECT_THAT(join_scenario(centers(), input, {.load = load}).error().detail, HasSubstr("cannot be reached"));
}

TEST(JoinScenario, NeedsAJob)
{
    EXPECT_THAT(join_scenario(centers(), jobs(R"({"arrival_s": 0, "work_s": 1, "unit_count": 999})")).error().detail,
                HasSubstr("line 1: larger than any unit type"));
}

} // namespace
} // namespace fathom::simulation
