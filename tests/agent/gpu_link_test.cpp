#include "core/base/file.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

/// A real agent on a machine with two GPUs: the driver and the operators on GPUs are stand-ins, and strict.
namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using test::is;
using testing::ElementsAre;

constexpr const char* kTwoGpus = "gpu\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n";
constexpr const char* kOneLost = "lost\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n";

class GpuLink : public test::AgentLink {
  protected:
    GpuLink()
    {
        fs::permissions(folder_.path(), fs::perms(0755)); // the agent's user and jobs read there
        for (const char* program : {"fathom-probe", "fathom-operator-host"})
            fs::copy(test::agent_program().parent_path() / program, folder_.path());
        for (const fs::directory_entry& library : fs::directory_iterator(FATHOM_STANDIN_GPU))
            fs::copy(library, folder_.path());
        describe_gpus(kTwoGpus);
        set("FATHOM_STANDIN_GPUS", gpus().string());
        set("LD_LIBRARY_PATH", folder_.path().string());
        write_config("core", "shared_folders = \"" + folder_.path().string() + "\"\nprobe_program = \"" +
                                 (folder_.path() / "fathom-probe").string() +
                                 "\"\n[environment]\nFATHOM_STANDIN_GPUS = \"" + gpus().string() +
                                 "\"\n[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\ncores_per_unit = 0\n"
                                 "memory_bytes_per_unit = 1000000000\nunit_count = 2\n");
    }
    ~GpuLink() override
    {
        for (const char* name : {"FATHOM_STANDIN_GPUS", "LD_LIBRARY_PATH"})
            ::unsetenv(name); // NOLINT(concurrency-mt-unsafe): the fake server's threads read none
    }

    void describe_gpus(const std::string& lines) const { write_file(gpus(), lines, 0644).value(); }

    /// What an order writes to its standard output; it must succeed.
    std::string output_of(AttemptOrder order, const std::string& unit_type)
    {
        order.unit_type = unit_type;
        server_.send(link::StartAttempt{order});
        const AttemptEnd end = server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end;
        EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
        EXPECT_EQ(end.exit_code, 0);
        std::string text; // it comes in pieces
        while (std::ssize(text) < end.stdout_bytes) {
            const auto is_next = [&](const link::Message& message) {
                const auto* piece = std::get_if<link::AttemptOutput>(&message.body);
                return piece != nullptr && piece->attempt_id == order.attempt_id && piece->stream == "stdout" &&
                       piece->offset_bytes == std::ssize(text);
            };
            text += std::get<link::AttemptOutput>(server_.wait_for("the next piece of output", is_next).body).data;
        }
        return text;
    }

  private:
    fs::path gpus() const { return folder_.path() / "gpus"; }
    static void set(const char* name, const std::string& value)
    {
        ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): see above
    }

    test::TemporaryFolder folder_;
};

TEST_F(GpuLink, OffersWhatTheDriverTellsWithWhatProbesCanDoThere)
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

TEST_F(GpuLink, GivesAProbeAndAJobOneGpuAndOtherJobsNone)
{
    start_enrolled();
    AttemptOrder probe = test::order({"fathom-probe", "--task", "task.json"});
    probe.label = "probe";
    probe.files["task.json"] =
        R"({"name": "t", "operators": [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}], "repeats": 3})";

    const Json result = Json::parse(output_of(probe, "gpu"));
    AttemptOrder asks_for_more = test::shell_order("echo $CUDA_VISIBLE_DEVICES, $FATHOM_DEVICES");
    asks_for_more.environment["CUDA_VISIBLE_DEVICES"] = "GPU-aa,GPU-bb";

    EXPECT_EQ(result["host"]["gpu"]["name"], "Stand-in");
    EXPECT_EQ(result["operators"][0]["id"], "dgemm");
    EXPECT_EQ(output_of(asks_for_more, "gpu"), "GPU-aa, GPU-aa\n");
    asks_for_more.attempt_id = AttemptId::make();
    EXPECT_EQ(output_of(asks_for_more, "core"), ",\n");
}

TEST_F(GpuLink, NoticesByItselfThatAGpuIsLost)
{
    start_enrolled();

    describe_gpus(kOneLost);
    const link::Message message = server_.wait_for("the catalog with one GPU", is<link::CatalogChanged>);
    const Catalog& catalog = std::get<link::CatalogChanged>(message.body).catalog;

    EXPECT_EQ(catalog.unit_types.at(0).unit_count, 1);
    EXPECT_THAT(catalog.facts["differences"],
                ElementsAre("GPU 0 does not answer: GPU is lost (NVML 15)",
                            "unit_type[0].unit_count: \"gpu\" needs 2 of \"cuda\", but only 1 are left"));
}

} // namespace
} // namespace fathom::agent
