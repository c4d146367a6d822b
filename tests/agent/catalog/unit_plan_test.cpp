#include "agent/jobs/unit_allocator.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using test::core_plan;
using test::host;
using testing::ElementsAre;

UnitCut cut(std::string name, std::int64_t cores, std::int64_t count = 0)
{
    UnitCut cut;
    cut.name = std::move(name);
    cut.cores_per_unit = cores;
    cut.unit_count = count;
    return cut;
}

AttemptOrder order_of(const std::string& unit_type, std::int64_t count, const AttemptId& id = AttemptId::make())
{
    AttemptOrder order;
    order.attempt_id = id;
    order.unit_type = unit_type;
    order.unit_count = count;
    return order;
}

AttemptOrder chosen_by_center(AttemptOrder order)
{
    order.center_chooses = true;
    return order;
}

AgentTables tables(std::vector<UnitCut> cuts)
{
    AgentTables tables;
    tables.unit_types = std::move(cuts);
    return tables;
}

TEST(UnitPlan, OffersOneUnitForEachCoreWithoutAConfig)
{
    const UnitPlan plan = cut_units(host(4), {}, {.operators = {"dgemm"}, .blas_core_type = "Haswell"}).value();

    ASSERT_EQ(plan.size(), 1U);
    EXPECT_EQ(plan[0].report.name, "core");
    EXPECT_EQ(plan[0].report.unit_count, 4);
    EXPECT_EQ(plan[0].report.memory_bytes_per_unit, 1000);
    EXPECT_THAT(plan[0].report.operators, ElementsAre("dgemm"));
    EXPECT_EQ(plan[0].report.facts["blas_core_type"], "Haswell");
}

TEST(UnitPlan, GivesNoCoreToTwoUnits)
{
    const UnitPlan plan = cut_units(host(7), tables({cut("pair", 2, 2), cut("single", 1)}), {}).value();

    std::multiset<std::int64_t> used;
    for (const UnitType& type : plan) {
        for (const Unit& unit : type.units)
            used.insert(unit.cpus.begin(), unit.cpus.end());
    }
    EXPECT_THAT(used, ElementsAre(0, 1, 2, 3, 4, 5, 6));
    EXPECT_EQ(plan[1].report.unit_count, 3);
}

TEST(UnitPlan, KeepsAUnitWithinOneNumaNodeWhileItCan)
{
    // Two nodes of 3 cores: two pairs fit one node each; the third must straddle.
    const UnitPlan plan = cut_units(host(6, 3), tables({cut("pair", 2)}), {}).value();

    ASSERT_EQ(plan[0].units.size(), 3U);
    EXPECT_THAT(plan[0].units[0].cpus, ElementsAre(0, 1));
    EXPECT_THAT(plan[0].units[1].cpus, ElementsAre(3, 4));
    EXPECT_THAT(plan[0].units[2].cpus, ElementsAre(2, 5));
}

TEST(UnitPlan, TellsTheLastLevelCachesThatAUnitTouches)
{
    Host six = host(6); // two caches of three cores each
    six.last_level_caches = {{32 << 20, {0, 1, 2}}, {32 << 20, {3, 4, 5}}};

    const UnitPlan pairs = cut_units(six, tables({cut("pair", 2)}), {}).value();
    const UnitPlan cores = cut_units(six, tables({cut("core", 1)}), {}).value();
    const UnitPlan hidden = cut_units(host(6), tables({cut("core", 1)}), {}).value();

    EXPECT_EQ(pairs[0].report.facts.at("last_level_cache_bytes"), 64 << 20) << "cores 2 and 3 are one unit";
    EXPECT_EQ(cores[0].report.facts.at("last_level_cache_bytes"), 32 << 20);
    EXPECT_TRUE(hidden[0].report.facts.at("last_level_cache_bytes").contains("absent")) << "never zero";
}

TEST(UnitPlan, NamesTheKeyThatDoesNotFit)
{
    const Result<UnitPlan> plan = cut_units(host(4), tables({cut("a", 1, 3), cut("b", 2, 1), cut("c", 9)}), {});

    ASSERT_FALSE(plan);
    const Error error = plan.error();
    ASSERT_EQ(error.fields.size(), 2U);
    EXPECT_EQ(error.fields[0].field, "unit_type[1].unit_count");
    EXPECT_EQ(error.fields[1].field, "unit_type[2].cores_per_unit");
}

TEST(UnitPlan, OffersOnlyOperatorsThatTheProbeHasAndTheConfigAllows)
{
    AgentTables config = tables({cut("core", 1)});
    config.operators["cpu"] = {"dgemm", "fft3d", "unheard"};
    config.unit_types[0].operators = {"fft3d", "spmv"};
    const ProbeAbilities abilities{.operators = {"dgemm", "fft3d", "spmv"}, .blas_core_type = ""};

    EXPECT_THAT(cut_units(host(1), config, abilities).value()[0].report.operators, ElementsAre("fft3d"));
    EXPECT_THAT(unknown_operators(config, abilities), ElementsAre("unheard"));
}

TEST(UnitPlan, OffersWhatRunsBetweenProcessesWhereAUnitHasTwoProcessors)
{
    AgentTables config = tables({cut("core", 1, 1), cut("pair", 2, 1), cut("named", 1, 1)});
    config.unit_types[2].operators = {"mpi_latency"};
    const ProbeAbilities abilities{.operators = {"dgemm", "mpi_latency", "tcp_allreduce"}, .blas_core_type = ""};

    const UnitPlan plan = cut_units(host(4), config, abilities).value();

    EXPECT_THAT(plan[0].report.operators, ElementsAre("dgemm"));
    EXPECT_THAT(plan[1].report.operators, ElementsAre("dgemm", "mpi_latency", "tcp_allreduce"));
    EXPECT_THAT(plan[2].report.operators, ElementsAre("mpi_latency")) << "of several units together";
}

TEST(UnitAllocator, GivesEachUnitOnceAndAgainAfterItsRelease)
{
    UnitAllocator units(core_plan(2));
    const AttemptId first = AttemptId::make();

    const Allocation allocation = units.allocate(order_of("core", 2, first)).value();
    EXPECT_THAT(allocation.units, ElementsAre(0, 1));
    EXPECT_EQ(allocation.cores, 2);
    EXPECT_EQ(allocation.memory_bytes, 2000);
    EXPECT_EQ(units.allocate(order_of("core", 1)).error().code, Errc::kTooMany);

    units.release(first);
    EXPECT_THAT(units.allocate(order_of("core", 1)).value().units, ElementsAre(0));
}

TEST(UnitAllocator, RefusesWhatThisCenterNeverHas)
{
    UnitAllocator units(core_plan(2));

    EXPECT_EQ(units.allocate(order_of("gpu", 1)).error().code, Errc::kNotFound);
    EXPECT_EQ(units.allocate(order_of("core", 3)).error().code, Errc::kInfeasible);
}

TEST(UnitAllocator, RespectsWhatIsHeldAcrossANewCut)
{
    UnitAllocator units(core_plan(4));
    units.hold(AttemptId::make(), {1});

    units.replace_plan(cut_units(host(4), tables({cut("pair", 2)}), {}).value());

    EXPECT_THAT(units.allocate(order_of("pair", 1)).value().cpus, ElementsAre(2, 3));
    EXPECT_FALSE(units.allocate(order_of("pair", 1)));
}

TEST(UnitAllocator, TakesTheTypeWithMoreFreeUnitsWhenTheCenterMayChoose)
{
    UnitAllocator units(cut_units(host(4), tables({cut("a", 1, 1), cut("b", 1)}), {}).value());

    EXPECT_EQ(units.allocate(chosen_by_center(order_of("a", 1))).value().unit_type, "b");
    EXPECT_EQ(units.allocate(order_of("a", 1)).value().unit_type, "a");
}

TEST(UnitAllocator, TakesWhatIsFreeUpToTheOrderedCountWhenTheCenterCounts)
{
    UnitAllocator units(core_plan(4));
    units.hold(AttemptId::make(), {1});
    AttemptOrder order = order_of("core", 4);
    order.center_counts = true;

    EXPECT_THAT(units.allocate(order).value().units, ElementsAre(0, 2, 3));
    order.attempt_id = AttemptId::make();
    EXPECT_EQ(units.allocate(order).error().code, Errc::kTooMany) << "at least one is needed";
}

TEST(UnitAllocator, AChoosingCenterLooksAtWhatTheProbeNeeds)
{
    std::vector<UnitCut> cuts{cut("small", 1, 1), cut("wide", 1)};
    cuts[1].operators = {"fft3d"};
    const ProbeAbilities abilities{.operators = {"dgemm", "fft3d"}, .blas_core_type = ""};
    UnitAllocator units(cut_units(host(4), tables(cuts), abilities).value());
    AttemptOrder order = chosen_by_center(order_of("small", 1));

    order.operators = {{"dgemm", false}};
    EXPECT_EQ(units.allocate(order).value().unit_type, "small") << "wide does not offer dgemm";
    order.attempt_id = AttemptId::make();
    order.operators = {{"fft3d", false}};
    EXPECT_EQ(units.allocate(order).value().unit_type, "wide");
}

} // namespace
} // namespace fathom::agent
