#include "tests/agent/support/gpu_link.hpp"

#include <gmock/gmock.h>

/// A real agent on a machine with two GPUs: the driver and the operators on GPUs are stand-ins, and strict.
namespace fathom::agent {
namespace {

using test::GpuLink;
using test::is;
using testing::ElementsAre;

constexpr const char* kOneLost = "lost\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n";

class TwoGpus : public GpuLink {
  protected:
    TwoGpus()
        : GpuLink("gpu\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n",
                  "[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\ncores_per_unit = 0\n"
                  "memory_bytes_per_unit = 1000000000\nunit_count = 2\n")
    {
    }
};

TEST_F(TwoGpus, OffersWhatTheDriverTellsWithWhatProbesCanDoThere)
{
    start_enrolled();
    const Catalog catalog = last_hello().catalog;

    ASSERT_EQ(catalog.unit_types.size(), 2U);
    const UnitTypeReport& gpu = catalog.unit_types[0];
    EXPECT_EQ(gpu.name, "gpu");
    EXPECT_EQ(gpu.unit_count, 2);
    EXPECT_THAT(gpu.operators, ElementsAre("dgemm"));
    EXPECT_EQ(gpu.facts["device"]["model"], "NVIDIA H100");
    EXPECT_EQ(gpu.facts["bus_gb_s"], 25.0);
    EXPECT_EQ(gpu.facts["gpu_parallelism"], 132);
    EXPECT_GT(catalog.unit_types[1].operators.size(), 5U) << "those of processors";
    EXPECT_EQ(catalog.facts["devices"][0]["count"], 2);
}

TEST_F(TwoGpus, GivesAProbeAndAJobOneGpuAndOtherJobsNone)
{
    start_enrolled();
    AttemptOrder probe = test::order({"fathom-probe", "--task", "task.json"});
    probe.label = "probe";
    probe.files["task.json"] =
        R"({"name": "t", "operators": [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}], "repeats": 3})";

    const Json result = Json::parse(run(probe, "gpu"));
    AttemptOrder asks_for_more = test::shell_order("echo $CUDA_VISIBLE_DEVICES, $FATHOM_DEVICES");
    asks_for_more.environment["CUDA_VISIBLE_DEVICES"] = "GPU-aa,GPU-bb";

    EXPECT_EQ(result["host"]["gpu"]["name"], "Stand-in");
    EXPECT_EQ(result["operators"][0]["id"], "dgemm");
    EXPECT_EQ(run(asks_for_more, "gpu"), "GPU-aa, GPU-aa\n");
    asks_for_more.attempt_id = AttemptId::make();
    EXPECT_EQ(run(asks_for_more, "core"), ",\n");
}

TEST_F(TwoGpus, NoticesByItselfThatAGpuIsLost)
{
    start_enrolled();

    describe_gpus(kOneLost);
    const link::Message message = server_.wait_for("the catalog with one GPU", is<link::CatalogChanged>);
    const Catalog& catalog = std::get<link::CatalogChanged>(message.body).catalog;

    EXPECT_EQ(catalog.unit_types.at(0).unit_count, 1);
    EXPECT_THAT(catalog.facts["differences"], ElementsAre("GPU 0 does not answer: GPU is lost (NVML 15)",
                                                          "\"gpu\" needs 2 of \"cuda\", but only 1 are left"));
    const auto state = std::get<ResourceState>(server_.wait_for("the same by codes", is<ResourceState>).body);
    EXPECT_EQ(state.state, "file");
    ASSERT_EQ(state.differences.size(), 2U);
    EXPECT_EQ(state.differences[0].code, "device_missing");
    EXPECT_EQ(state.differences[1].code, "fewer_devices");
    EXPECT_EQ(state.differences[1].wanted, 2);
    EXPECT_EQ(state.differences[1].seen, 1);
}

} // namespace
} // namespace fathom::agent
