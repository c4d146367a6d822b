#include "server/centers/gpus/job_gpus_store.hpp"
#include "server/centers/gpus/shared_gpu_gauges.hpp"
#include "server/centers/gpus/shared_gpus_store.hpp"
#include "tests/server/centers/shared_gpus_fixture.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::gpu_with;
using test::insert_running;
using test::kept;
using test::TestAgent;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<SharedGpuRecord> rows(AgentServer& server, const SharedGpuFilter& filter = {})
{
    return server.store
        .run([&](pqxx::work& transaction) -> Result<std::vector<SharedGpuRecord>> {
            return select_shared_gpus(transaction, filter, 100, "").items;
        })
        .value();
}

TEST(SharedGpus, AreAsTheCentersAgentLastSaid)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();

    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {"job_a", "job_b"}), gpu_with("GPU-2", {})}});
    ASSERT_EQ(rows(server).size(), 2U);
    EXPECT_EQ(rows(server)[0].center, "alpha");
    EXPECT_EQ(rows(server)[0].report["jobs"].size(), 2U);
    EXPECT_EQ(rows(server, {.job = "job_b"}).size(), 1U);
    EXPECT_TRUE(rows(server, {.center = "beta"}).empty());

    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-2", {"job_c"})}});
    ASSERT_EQ(rows(server).size(), 1U);
    EXPECT_EQ(to_json(rows(server)[0])["gpu"], "GPU-2");
    EXPECT_EQ(to_json(rows(server)[0])["jobs"][0]["job"], "job_c");
}

TEST(SharedGpus, AreReadPageByPage)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {}), gpu_with("GPU-2/a", {}), gpu_with("GPU-3", {})}});

    const auto page = [&](const std::string& after) {
        return server.store
            .run([&](pqxx::work& transaction) -> Result<Page<SharedGpuRecord>> {
                return select_shared_gpus(transaction, {}, 2, after);
            })
            .value();
    };

    EXPECT_EQ(page("").next_after, "alpha/GPU-2/a");
    ASSERT_EQ(page("alpha/GPU-2/a").items.size(), 1U);
    EXPECT_EQ(page("alpha/GPU-2/a").items[0].report["gpu"], "GPU-3");
}

TEST(SharedGpus, WhoMayReadOwnJobsOnlyIsToldOfTheirProgramsOnly)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    server.store.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES "
                     "('job_a', 'a', 'p', '{}', 'tok_me'), ('job_b', 'b', 'p', '{}', 'tok_other')");
    server.store.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by) "
                     "SELECT 'att_' || j.id, j.id, 1, u.center_id, u.id, 1, 'running', 'test' "
                     "FROM job j, (SELECT * FROM unit_type LIMIT 1) u");
    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {"job_a", "job_b", "made up"})}});

    const std::vector<SharedGpuRecord> mine = rows(server, {.scope = {.owner = "tok_me"}});

    ASSERT_EQ(mine.size(), 1U);
    ASSERT_EQ(mine[0].report["jobs"].size(), 1U);
    EXPECT_EQ(mine[0].report["jobs"][0]["job"], "job_a");
    EXPECT_EQ(mine[0].report["job_count"], 3);
}

SharedGpu with_process(SharedGpu gpu, std::size_t program, std::int64_t process, std::int64_t switches)
{
    gpu.jobs.at(program).process = process;
    gpu.jobs.at(program).switches = switches;
    return gpu;
}

TEST(JobGpus, AreKeptWithEverybodyWhoSharedThemAndTheLastFiguresOfEachProgram)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_running(server, {{"job_a", "tok_me"}});

    agent.send_and_wait(GpuMemoryReport{{with_process(gpu_with("GPU-1", {"job_a", "job_b"}), 0, 7, 1)}});
    agent.send_and_wait(GpuMemoryReport{{with_process(gpu_with("GPU-1", {"job_a", "job_c"}), 0, 7, 4)}});
    agent.send_and_wait(GpuMemoryReport{{with_process(gpu_with("GPU-1", {"job_a", ""}), 0, 9, 2)}});
    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {})}});
    server.store.sql("UPDATE attempt SET state = 'ended'");
    agent.send_and_wait(GpuMemoryReport{{with_process(gpu_with("GPU-1", {"job_a", "job_d"}), 0, 9, 99)}});

    const std::vector<JobGpuRecord> gpus = kept(server, "job_a");
    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_EQ(gpus[0].attempt_id.value, "att_job_a");
    EXPECT_EQ(gpus[0].center, "alpha");
    EXPECT_EQ(gpus[0].gpu, "GPU-1");
    EXPECT_EQ(gpus[0].capacity_bytes, 80);
    EXPECT_EQ(gpus[0].neighbours, (std::vector<std::string>{"job_b", "job_c"})) << "not of after its end";
    EXPECT_EQ(gpus[0].other_count, 1) << "who named no job";
    ASSERT_EQ(gpus[0].programs.size(), 2U);
    EXPECT_EQ(gpus[0].programs[0]["switches"], 4);
    EXPECT_EQ(gpus[0].programs[1]["switches"], 2);
    EXPECT_TRUE(kept(server, "job_b").empty()) << "it is not at this center";
}

TEST(JobGpus, WhoMayReadOwnJobsOnlyIsToldOfTheseNeighboursOnly)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_running(server, {{"job_a", "tok_me"}, {"job_b", "tok_me"}, {"job_c", "tok_other"}});
    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {"job_a", "job_b", "job_c", "made up"})}});

    const std::vector<JobGpuRecord> mine = kept(server, "job_a", {.owner = "tok_me"});

    ASSERT_EQ(mine.size(), 1U);
    EXPECT_EQ(mine[0].neighbours, std::vector<std::string>{"job_b"});
    EXPECT_EQ(mine[0].other_count, 2);
}

TEST(JobGpus, AreBounded)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_running(server, {{"job_a", "tok_me"}});
    const auto report = [](const std::string& prefix, int gpus, int programs) {
        GpuMemoryReport made;
        for (int i = 0; i < gpus; ++i) {
            made.gpus.push_back(gpu_with(prefix + std::to_string(i), {}));
            for (int j = 0; j < programs; ++j) {
                made.gpus.back().jobs.push_back({.job = "job_a", .process = i * 100 + j});
                made.gpus.back().jobs.push_back({.job = prefix + std::to_string(j)});
            }
        }
        return made;
    };

    agent.send_and_wait(report("a", 40, 1));
    agent.send_and_wait(report("b", 40, 1));
    EXPECT_EQ(kept(server, "job_a").size(), 64U);

    for (int i = 0; i < 3; ++i) { // each time other programs and other neighbours
        GpuMemoryReport many = report("n" + std::to_string(i), 1, 32);
        many.gpus[0].gpu = "a0";
        for (SharedGpuJob& job : many.gpus[0].jobs)
            job.process += 1000 * (i + 1);
        agent.send_and_wait(many);
    }
    const JobGpuRecord first = kept(server, "job_a").front();
    EXPECT_EQ(first.gpu, "a0");
    EXPECT_EQ(first.neighbours.size(), 64U);
    EXPECT_LE(first.programs.size(), 64U);
    EXPECT_GE(first.programs.size(), 32U);
}

TEST(SharedGpus, AreCountedByCenterInMetrics)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    server.store.sql("UPDATE unit_type SET resource_type = 'cuda'");
    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {"job_a"}), gpu_with("GPU-2", {"job_a", "job_b"})}});
    Metrics metrics;
    const auto set = [&] {
        return server.store.run([&](pqxx::work& transaction) -> Result<void> {
            set_shared_gpu_gauges(transaction, metrics);
            return {};
        });
    };

    ASSERT_TRUE(set());
    EXPECT_THAT(metrics.expose(), HasSubstr(R"(fathom_shared_gpu_memory_bytes{center="alpha",kind="free"} 80)"));
    EXPECT_THAT(metrics.expose(), HasSubstr(R"(fathom_shared_gpu_programs{center="alpha"} 3)"));

    agent.send_and_wait(GpuMemoryReport{});
    ASSERT_TRUE(set());
    EXPECT_THAT(metrics.expose(), HasSubstr(R"(fathom_shared_gpu_programs{center="alpha"} 0)"));
}

SharedGpu gpu_with_figures()
{
    SharedGpu gpu = gpu_with("GPU-1", {"job_a", "job_b"});
    gpu.refused_count = 6;
    for (SharedGpuJob& job : gpu.jobs) {
        job.persistent = {.room_bytes = 10, .used_bytes = 8, .peak_bytes = 9};
        job.temporary = {.room_bytes = 20, .used_bytes = 12, .peak_bytes = 15};
        job.switches = 3;
        job.switch_s = 0.5;
        job.moved_bytes = 100;
        job.kept_bytes = 700;
        job.refusals = 2;
    }
    return gpu;
}

TEST(SharedGpus, AreShownOneByOneInMetricsAsLongAsTheyAreThereAndNameNoJob)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    Metrics metrics;
    const auto exposed = [&] {
        const Result<void> set = server.store.run([&](pqxx::work& transaction) -> Result<void> {
            set_shared_gpu_gauges(transaction, metrics);
            return {};
        });
        return set ? metrics.expose() : describe(set.error());
    };

    agent.send_and_wait(GpuMemoryReport{{gpu_with_figures(), gpu_with("GPU-2", {})}});
    const std::string text = exposed();
    const std::string gpu = R"({center="alpha",gpu="GPU-1")";
    EXPECT_THAT(text, HasSubstr("fathom_gpu_memory_bytes" + gpu + R"(,kind="capacity"} 80)"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_used_bytes" + gpu + R"(,kind="persistent"} 16)"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_used_bytes" + gpu + R"(,kind="temporary"} 12)"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_peak_bytes" + gpu + R"(,kind="persistent"} 18)"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_peak_bytes" + gpu + R"(,kind="temporary"} 15)"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_programs" + gpu + "} 2\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_refused_programs" + gpu + "} 6\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_switches" + gpu + "} 6\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_switch_seconds" + gpu + "} 1\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_moved_bytes" + gpu + "} 200\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_kept_bytes" + gpu + "} 1400\n"));
    EXPECT_THAT(text, HasSubstr("fathom_gpu_refusals" + gpu + "} 4\n"));
    EXPECT_THAT(text, HasSubstr(R"(fathom_gpu_switches{center="alpha",gpu="GPU-2"} 0)"));
    EXPECT_THAT(text, Not(HasSubstr("job_a")));

    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-2", {})}});
    EXPECT_THAT(exposed(), AllOf(HasSubstr("GPU-2"), Not(HasSubstr("GPU-1"))));
}

TEST(SharedGpus, ANulCharacterIsRefusedAndTheRestGoesOn)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();

    agent.send(GpuMemoryReport{{gpu_with("GPU-1", {std::string("a\0b", 3)})}});
    const auto ack = agent.expect<link::Ack>();
    ASSERT_TRUE(ack.error);
    EXPECT_THAT(describe(*ack.error), HasSubstr("gpus[0].jobs[0].job: must not contain a NUL character"));
    EXPECT_TRUE(rows(server).empty());

    agent.send_and_wait(GpuMemoryReport{{gpu_with("GPU-1", {})}});
    EXPECT_EQ(rows(server).size(), 1U);
}

} // namespace
} // namespace fathom::server
