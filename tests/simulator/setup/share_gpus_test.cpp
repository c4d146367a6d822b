#include "simulator/setup/join_scenario.hpp"
#include "simulator/setup/share_gpus.hpp"
#include "simulator/workloads/workload_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace fathom::simulation {
namespace {

using testing::HasSubstr;

constexpr const char* kPairs = R"(gpu,job_a,job_b,solo_a,solo_b,coloc_a,coloc_b
p100,ResNet-18 (batch size 16),ResNet-18 (batch size 16),10,10,6,6
p100,ResNet-18 (batch size 16),CycleGAN,10,4,5,3
p100,CycleGAN,CycleGAN,4,4,0,0
k80,CycleGAN,CycleGAN,1,1,0.5,0.5
)";

Scenario scenario_of(const std::string& unit_type, const std::string& job = "")
{
    const std::string centers = R"({"centers": [{"name": "alpha", "unit_types": [
        {"name": ")" + unit_type +
                                R"(", "unit_count": 3, "rates": {"*": 1}},
        {"name": "v100", "unit_count": 2, "rates": {"*": 1}}]}]})";
    std::istringstream jobs(R"({"arrival_s": 0, "work_s": 1, "job_type": "ResNet-18 16"}
{"arrival_s": 0, "work_s": 1, "job_type": "CycleGAN"}
{"arrival_s": 0, "work_s": 1, "job_type": "A3C"}
)" + job);
    return join_scenario(read_centers(centers).value(), read_job_lines(jobs).value()).value().scenario;
}

TEST(ShareGpus, MakesTwoPartsOfEachGpuThatTheTableNames)
{
    const Scenario shared = share_gpus(scenario_of("p100"), kPairs).value();

    const UnitType& p100 = shared.network.unit_types[0];
    EXPECT_EQ(p100.unit_count, 6);
    EXPECT_EQ(p100.units_per_device, 2);
    const std::vector<JobType>& types = shared.network.job_types;
    const auto kept = [&](const std::string& name, const std::string& other) {
        const auto index_of = [&](const std::string& one) {
            const auto found =
                std::find_if(types.begin(), types.end(), [&](const JobType& t) { return t.name == one; });
            return static_cast<std::size_t>(found - types.begin());
        };
        return p100.kept_beside.at(index_of(name) * types.size() + index_of(other));
    };
    EXPECT_DOUBLE_EQ(kept("ResNet-18 16", "ResNet-18 16"), 0.6);
    EXPECT_DOUBLE_EQ(kept("ResNet-18 16", "CycleGAN"), 0.5);
    EXPECT_DOUBLE_EQ(kept("CycleGAN", "ResNet-18 16"), 0.75);
    EXPECT_EQ(kept("CycleGAN", "CycleGAN"), 0) << "two of them do not fit";
    EXPECT_EQ(kept("A3C", "CycleGAN"), 0.5) << "not measured: in turns";
    const UnitType& v100 = shared.network.unit_types[1];
    EXPECT_EQ(v100.unit_count, 2) << "not in the table";
    EXPECT_EQ(v100.units_per_device, 1);
}

TEST(ShareGpus, SaysWhatCannotBeShared)
{
    EXPECT_THAT(share_gpus(scenario_of("gpu"), kPairs).error().detail, HasSubstr("none of the network's unit types"));
    EXPECT_THAT(share_gpus(scenario_of("p100"), "gpu,job_a\np100,x\n").error().detail, HasSubstr("job_b"));
    const Scenario wide = scenario_of("p100", R"({"arrival_s": 9, "work_s": 1, "unit_count": 2})");
    EXPECT_THAT(share_gpus(wide, kPairs).error().detail, HasSubstr("several units"));
}

} // namespace
} // namespace fathom::simulation
