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
            .is_usable = true};
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

} // namespace
} // namespace fathom::agent
