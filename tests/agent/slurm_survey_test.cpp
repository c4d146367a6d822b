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
