#include "agent/executor/slurm/gres.hpp"
#include "agent/executor/slurm/survey.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

SlurmNode node(const std::string& name, const std::string& partition, const std::string& features,
               std::int64_t cores = 32)
{
    return {.partition = partition,
            .name = name,
            .cpus = 2 * cores,
            .cores = cores,
            .memory_bytes = cores << 30U,
            .features = features,
            .gres = "",
            .is_usable = true,
            .max_wall_s = 7200};
}

const ProbeAbilities kAbilities{{"dgemm"}, "", false};

AgentTables tables_of(const std::string& name, std::int64_t cores, const std::string& constraint)
{
    UnitCut cut;
    cut.name = name;
    cut.cores_per_unit = cores;
    cut.partition = "main";
    cut.constraint = constraint;
    AgentTables tables;
    tables.unit_types = {cut};
    return tables;
}

TEST(SlurmSurvey, OffersANodeAsAUnitOfEachPartitionAndFeatures)
{
    const UnitPlan plan =
        cut_nodes({node("n1", "main", ""), node("n2", "main", ""), node("g1", "gpu", "a100,ib", 64)}, {}, kAbilities)
            .value();

    ASSERT_EQ(plan.size(), 2U);
    EXPECT_EQ(plan[0].report.name, "main");
    EXPECT_EQ(plan[0].report.unit_count, 2);
    EXPECT_EQ(plan[0].report.cores_per_unit, 32);
    EXPECT_EQ(plan[0].place->cpus_per_unit, 64);
    EXPECT_EQ(plan[0].report.facts.at("max_wall_s"), 7200);
    EXPECT_TRUE(plan[0].report.facts.at("last_level_cache_bytes").contains("absent")) << "Slurm does not tell";
    EXPECT_EQ(plan[1].report.name, "gpu-a100-ib");
    EXPECT_EQ(plan[1].place->constraint, "a100&ib");
    EXPECT_NE(plan[0].units[0].cpus, plan[1].units[0].cpus);
    EXPECT_THAT(plan[0].report.operators, testing::ElementsAre("dgemm"));
}

TEST(SlurmSurvey, CutsNodesAsTheTablesSay)
{
    const AgentTables tables = tables_of("quad", 4, "ib");

    const UnitPlan plan = cut_nodes({node("n1", "main", ""), node("n2", "main", "new,ib")}, tables, kAbilities).value();

    ASSERT_EQ(plan.size(), 1U);
    EXPECT_EQ(plan[0].report.unit_count, 8);
    EXPECT_EQ(plan[0].report.memory_bytes_per_unit, 4LL << 30U);
    EXPECT_EQ(plan[0].place->cpus_per_unit, 8);
    EXPECT_EQ(plan[0].place->units_per_node, 8);
}

TEST(SlurmSurvey, OffersWhatRunsBetweenProcessesWhereAUnitHasTwoProcessors)
{
    const ProbeAbilities abilities{{"dgemm", "mpi_latency"}, "", false};
    SlurmNode plain = node("n1", "main", "");
    plain.cpus = plain.cores; // without hardware threads
    const auto operators = [&](AgentTables tables) {
        return cut_nodes({plain}, tables, abilities).value()[0].report.operators;
    };
    AgentTables named = tables_of("core", 1, "");
    named.unit_types[0].operators = {"mpi_latency"};

    EXPECT_THAT(operators(tables_of("core", 1, "")), testing::ElementsAre("dgemm"));
    EXPECT_THAT(operators(tables_of("pair", 2, "")), testing::ElementsAre("dgemm", "mpi_latency"));
    EXPECT_THAT(operators(named), testing::ElementsAre("mpi_latency")) << "of several units together";
}

TEST(SlurmSurvey, SaysWhichTableNoNodeFits)
{
    const AgentTables tables = tables_of("wide", 64, "");

    const Result<UnitPlan> plan = cut_nodes({node("n1", "main", "")}, tables, kAbilities);

    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().detail, testing::HasSubstr("wide"));
}

TEST(SlurmSurvey, CountsOnlyNodesThatAreUp)
{
    SlurmNode down = node("n2", "main", "");
    down.is_usable = false;

    EXPECT_EQ(cut_nodes({node("n1", "main", ""), down}, {}, kAbilities).value()[0].report.unit_count, 1);
    EXPECT_EQ(cut_nodes({down}, {}, kAbilities).value()[0].report.unit_count, 1);
}

SlurmNode gpu_node(const std::string& name, const std::string& gres)
{
    SlurmNode one = node(name, "main", "");
    one.gres = gres;
    return one;
}

AgentTables gpu_tables(std::int64_t devices, const std::string& model)
{
    AgentTables tables = tables_of("gpu", 4, "");
    tables.unit_types[0].resource_type = "cuda";
    tables.unit_types[0].devices_per_unit = devices;
    tables.unit_types[0].device_model = model;
    return tables;
}

TEST(SlurmSurvey, CutsNodesWithGpusByTheirGpus)
{
    AgentTables tables = gpu_tables(2, "");
    tables.operators["cuda"] = {"fft3d"};
    const std::vector<SlurmNode> nodes{gpu_node("n1", ""), gpu_node("n2", "gpu:a100:4(S:0-1)"),
                                       gpu_node("n3", "gpu:a100:6"), gpu_node("n4", "gpu:1")};

    const UnitPlan plan = cut_nodes(nodes, tables, kAbilities).value();

    ASSERT_EQ(plan.size(), 1U);
    EXPECT_EQ(plan[0].report.resource_type, "cuda");
    EXPECT_EQ(plan[0].report.unit_count, 4) << "as the node with fewer GPUs";
    EXPECT_EQ(plan[0].report.facts["device"], Json::parse(R"({"model": "gpu", "count": 2})"));
    EXPECT_EQ(plan[0].place->devices, "gpu");
    EXPECT_EQ(plan[0].place->devices_per_unit, 2);
    EXPECT_EQ(plan[0].place->units_per_node, 2);
    EXPECT_THAT(plan[0].report.operators, testing::ElementsAre("fft3d"));
}

TEST(SlurmSurvey, AsksForGpusByTheirTypeWhereTheTableNamesAModel)
{
    const std::vector<SlurmNode> nodes{gpu_node("n1", "gpu:v100:8"), gpu_node("n2", "gpu:v100:2,gpu:a100:4")};

    const UnitPlan plan = cut_nodes(nodes, gpu_tables(1, "a100"), kAbilities).value();

    EXPECT_EQ(plan[0].report.unit_count, 4);
    EXPECT_EQ(plan[0].place->devices, "gpu:a100");
    EXPECT_TRUE(plan[0].report.operators.empty()) << "the agent's host has no GPU, so nobody knows of any";
    EXPECT_THAT(cut_nodes(nodes, gpu_tables(1, "h100"), kAbilities).error().detail, testing::HasSubstr("1 GPUs h100"));
}

TEST(SlurmSurvey, OffersNoPartsOfGpusAndNoOtherDevices)
{
    AgentTables parts = gpu_tables(1, "");
    parts.unit_types[0].sharing = DeviceSharing::kMps;
    AgentTables others = gpu_tables(1, "");
    others.unit_types[0].resource_type = "npu";

    EXPECT_THAT(cut_nodes({gpu_node("n1", "gpu:4")}, parts, kAbilities).error().detail,
                testing::HasSubstr("whole GPUs"));
    EXPECT_THAT(cut_nodes({gpu_node("n1", "npu:4")}, others, kAbilities).error().detail,
                testing::HasSubstr("GPUs are offered only"));
}

TEST(SlurmGres, AreCountedByNameAndType)
{
    EXPECT_EQ(parse_gres("gpu:a100:4(S:0-1,3),gpu:2,shard:a100:8(S:0)"),
              (std::vector<SlurmDevices>{{"gpu", "a100", 4}, {"gpu", "", 2}, {"shard", "a100", 8}}));
    for (const char* text :
         {"", "gpu", "gpu:a100", "gpu:0", "gpu:-1", "bandwidth:lustre:4G", "gpu:a100:no_consume:4", "(("})
        EXPECT_TRUE(parse_gres(text).empty()) << text;
    EXPECT_EQ(gpus_of(gpu_node("n1", "gpu:a100:4,gpu:v100:2"), "")->count, 6);
    EXPECT_FALSE(gpus_of(gpu_node("n1", "nvme:1"), ""));
}

std::vector<UnitCut> wanted(const std::string& items)
{
    return parse_resource_document(parse_json(R"({"unit_types": [)" + items + "]}").value()).value();
}

TEST(SlurmSurvey, NodesAreCutAsTheNetworkWantsWithinTheFilesPartitions)
{
    const std::vector<SlurmNode> nodes{node("n1", "main", "ib"), node("n2", "main", ""), node("g1", "gpu", "a100", 64)};
    const std::vector<UnitCut> cuts = wanted(
        R"({"name": "wide", "cores_per_unit": 16, "partition": "main", "constraint": "ib", "unit_count": 3},
           {"name": "any", "cores_per_unit": 16, "partition": "main"}, {"name": "gpu", "partition": "gpu"})");

    const ReconciledUnits within =
        reconcile_nodes(nodes, tables_of("quad", 4, "ib"), cuts, RemoteRule::kWithin, kAbilities);

    ASSERT_EQ(within.plan.size(), 1U) << "nodes without the feature, and the other partition, are not the file's";
    EXPECT_EQ(within.plan[0].report.name, "wide");
    EXPECT_EQ(within.plan[0].report.unit_count, 2);
    ASSERT_EQ(within.differences.size(), 3U);
    EXPECT_EQ(within.differences[0].code, "not_permitted");
    EXPECT_EQ(within.differences[2].code, "fewer_nodes");
    EXPECT_EQ(within.differences[2].wanted, 3);
    EXPECT_EQ(within.differences[2].seen, 2);
}

TEST(SlurmSurvey, GpusAreNotTheNetworksToCut)
{
    const ReconciledUnits units =
        reconcile_nodes({gpu_node("n1", "gpu:4")}, gpu_tables(1, ""),
                        wanted(R"({"name": "g", "resource_type": "cuda"})"), RemoteRule::kMachine, kAbilities);

    EXPECT_TRUE(units.plan.empty());
    ASSERT_EQ(units.differences.size(), 1U);
    EXPECT_EQ(units.differences[0].code, "not_supported");
}

TEST(SlurmSurvey, NoNodeIsOfferedTwiceForTheNetwork)
{
    const std::vector<UnitCut> cuts =
        wanted(R"({"name": "a", "cores_per_unit": 32}, {"name": "b", "cores_per_unit": 16})");

    const ReconciledUnits units =
        reconcile_nodes({node("n1", "main", ""), node("n2", "main", "")}, {}, cuts, RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(units.plan.at(0).report.unit_count, 2);
    EXPECT_EQ(units.plan.at(1).report.unit_count, 0);
}

TEST(SlurmSurvey, TypesWithoutNodesAreNamedAndTheOthersOffered)
{
    const ReconciledUnits units =
        reconcile_nodes({node("n1", "main", "")}, tables_of("wide", 64, ""), {}, RemoteRule::kWithin, kAbilities);

    EXPECT_TRUE(units.plan.empty());
    ASSERT_EQ(units.differences.size(), 1U);
    EXPECT_EQ(units.differences[0].code, "fewer_cores");
}

TEST(HardwareChange, OfABatchSystemIsAnotherPartitionOrNode)
{
    Hardware before;
    before.nodes = describe_nodes({node("n1", "main", ""), node("n2", "main", "")});
    Hardware now;
    now.nodes = describe_nodes({node("n2", "main", ""), node("n1", "main", "")});
    EXPECT_FALSE(has_changed(before, now)) << "the order says nothing";

    now.nodes = describe_nodes({node("n1", "main", ""), node("n2", "night", "")});
    EXPECT_TRUE(has_changed(before, now));
    EXPECT_THAT(describe_hardware_change(before, now), testing::HasSubstr("nodes gone: main|n2"));
    EXPECT_THAT(describe_hardware_change(before, now), testing::HasSubstr("nodes come: night|n2"));
}

} // namespace
} // namespace fathom::agent
