#include "agent/catalog/nvidia.hpp"
#include "tests/agent/support/described_devices.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

namespace fathom::agent {
namespace {

using test::host;
using test::machine;
using test::tables;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the stand-in driver tells.
class NvidiaGpus : public testing::Test {
  protected:
    void describe_gpus(const std::string& lines)
    {
        const std::filesystem::path file = folder_.path() / "gpus";
        std::ofstream(file) << lines;
        ::setenv("FATHOM_STANDIN_GPUS", file.c_str(), 1); // NOLINT(concurrency-mt-unsafe): no other thread
    }
    void TearDown() override { ::unsetenv("FATHOM_STANDIN_GPUS"); } // NOLINT(concurrency-mt-unsafe)

    TemporaryFolder folder_;
    std::vector<std::string> missing_;
};

TEST_F(NvidiaGpus, AreFoundWithTheirNamesAndMemory)
{
    describe_gpus("gpu\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA A100\t42949672960\n");
    const std::vector<HostDevice> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();

    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[1].id, "GPU-bb");
    EXPECT_EQ(gpus[1].model, "NVIDIA A100");
    EXPECT_EQ(gpus[1].memory_bytes, 42949672960);
    EXPECT_EQ(gpus[1].value, "GPU-bb");
    EXPECT_THAT(gpus[1].files, ElementsAre("/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"));
    EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(NvidiaGpus, ThatAreCutAreTheirParts)
{
    describe_gpus("cut\tGPU-aa\tNVIDIA H100\t85899345920\npart\tMIG-1\tNVIDIA H100 MIG 1g.10gb\t10737418240\n"
                  "part\tMIG-2\tNVIDIA H100 MIG 1g.10gb\t10737418240\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n");
    Host machine = host(8);
    machine.devices = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();
    const AgentTables config =
        tables("[[unit_type]]\nname = \"mig\"\nresource_type = \"cuda\"\nsharing = \"mig\"\n"
               "device_model = \"1g.10gb\"\n[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\n");
    const UnitPlan plan = cut_units(machine, config, {}).value();

    EXPECT_EQ(plan[0].report.unit_count, 2);
    EXPECT_THAT(device_names(plan[0].units[1]), ElementsAre("MIG-2"));
    EXPECT_EQ(plan[1].report.unit_count, 1);
    EXPECT_THAT(device_names(plan[1].units[0]), ElementsAre("GPU-bb"));
}

TEST_F(NvidiaGpus, ThatAreLostAreSaidAndOthersStay)
{
    describe_gpus("lost\tGPU-aa\tNVIDIA H100\t1\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n");
    const std::vector<HostDevice> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();

    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_EQ(gpus[0].id, "GPU-bb");
    EXPECT_THAT(missing_, ElementsAre("GPU 0 does not answer: GPU is lost (NVML 15)"));
}

TEST_F(NvidiaGpus, AreNoneWithoutADriver)
{
    EXPECT_THAT(find_nvidia_gpus("/nowhere/libnvidia-ml.so.1", missing_).value(), IsEmpty());
    const Result<std::vector<HostDevice>> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_);
    ASSERT_FALSE(gpus);
    EXPECT_THAT(gpus.error().detail, HasSubstr("Driver Not Loaded"));
}

} // namespace
} // namespace fathom::agent
