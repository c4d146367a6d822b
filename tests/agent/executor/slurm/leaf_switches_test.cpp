// What Slurm tells of switches, in the words of a real slurmctld (22.05.8), and what becomes of it.

#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/leaf_switches.hpp"
#include "agent/executor/slurm/survey.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// `scontrol show topology` of two levels.
constexpr const char* kTree =
    "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=node[01-04,07]\n"
    "SwitchName=leaf1 Level=0 LinkSpeed=400 Nodes=node[05-06,08-12]\n"
    "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu-a[1-2]x[1-2]\n"
    "SwitchName=spine Level=1 LinkSpeed=1 Nodes=gpu-a1x[1-2],gpu-a2x[1-2],node[01-12] Switches=leaf[0-2]\n";

TEST(LeafSwitchText, TellsWhichNodesShareALeafSwitch)
{
    const LeafSwitches switches = parse_leaf_switches(kTree);

    ASSERT_EQ(switches.size(), 16U);
    EXPECT_THAT(switches.at("node04"), ElementsAre("leaf0"));
    EXPECT_THAT(switches.at("node07"), ElementsAre("leaf0"));
    EXPECT_THAT(switches.at("node05"), ElementsAre("leaf1"));
    EXPECT_THAT(switches.at("node10"), ElementsAre("leaf1"));
    EXPECT_THAT(switches.at("gpu-a2x1"), ElementsAre("leaf2"));
}

TEST(LeafSwitchText, OfAClusterWithOneSwitchIsThatSwitch)
{
    const LeafSwitches switches = parse_leaf_switches("SwitchName=solo Level=0 LinkSpeed=1 Nodes=alone,node01\n");

    ASSERT_EQ(switches.size(), 2U);
    EXPECT_THAT(switches.at("alone"), ElementsAre("solo"));
    EXPECT_THAT(switches.at("node01"), ElementsAre("solo"));
}

TEST(LeafSwitchText, ShowsANodeWithLinksToTwoSwitchesAtBoth)
{
    const LeafSwitches switches = parse_leaf_switches("SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=node[01-04,07]\n"
                                                      "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[04-06,08-12]\n");

    ASSERT_EQ(switches.size(), 12U);
    EXPECT_THAT(switches.at("node04"), ElementsAre("leaf0", "leaf1"));
}

TEST(LeafSwitchText, IsNoneWithoutATopology)
{
    EXPECT_THAT(parse_leaf_switches("No topology information available\n"), IsEmpty());
    EXPECT_THAT(parse_leaf_switches(""), IsEmpty());
    EXPECT_THAT(parse_leaf_switches("scontrol: error: a plugin is missing\n"), IsEmpty());
    EXPECT_THAT(parse_leaf_switches("BlockName=b1 BlockIndex=0 Nodes=n[1-4] BlockSize=4\n"), IsEmpty());
}

TEST(LeafSwitchText, ThatIsNotAllUnderstoodSaysNothing)
{
    const std::string good = "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[1-4]\n";
    ASSERT_EQ(parse_leaf_switches(good).size(), 4U);

    for (const char* odd : {"SwitchName=leaf1 LinkSpeed=1 Nodes=n5\n", "SwitchName=leaf1 Level=low Nodes=n5\n",
                            "SwitchName=leaf1 Level=0 Nodes=n[5-\n", "SwitchName=leaf1 Level=0 Nodes=n[9-5]\n",
                            "SwitchName=leaf1 Level=0 Nodes=n[5-9x]\n", "SwitchName=leaf1 Level=0 Nodes=n5,,n6\n",
                            "SwitchName=leaf1 Level=0 Nodes=n[1-999999999]\n", "SwitchName=a\"b Level=0 Nodes=n5\n",
                            "SwitchName=leaf1 Level=0 Nodes=n[1-1000][1-1000]\n"})
        EXPECT_THAT(parse_leaf_switches(good + odd), IsEmpty()) << odd;
    EXPECT_THAT(parse_leaf_switches(good + "SwitchName=" + std::string(65, 's') + " Level=0 Nodes=n5\n"), IsEmpty());
    EXPECT_EQ(parse_leaf_switches(good + "SwitchName=empty Level=0 LinkSpeed=1\n").size(), 4U)
        << "nothing is connected";
}

TEST(SlurmHostLists, AreExpandedInTheirOrder)
{
    EXPECT_THAT(expand_hosts("n[08-10,2],login", 100), ElementsAre("n08", "n09", "n10", "n2", "login"));
    EXPECT_THAT(expand_hosts("r[1-2]n[01-02]-ib", 100), ElementsAre("r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib"));
    EXPECT_THAT(expand_hosts("n[7]", 1), ElementsAre("n7"));
}

TEST(SlurmHostLists, AreBoundedAndWellFormed)
{
    EXPECT_EQ(expand_hosts("n[1-100]", 100).size(), 100U);
    EXPECT_THAT(expand_hosts("n[1-101]", 100), IsEmpty());
    EXPECT_THAT(expand_hosts("n[1-99],m[1-2]", 100), IsEmpty());
    EXPECT_THAT(expand_hosts("n[1-11]m[1-10]", 100), IsEmpty());
    EXPECT_THAT(expand_hosts("n1", 0), IsEmpty());
    EXPECT_THAT(expand_hosts(std::string(256, 'n'), 100), IsEmpty());
    for (const char* odd :
         {"", ",", "n1,", "n[", "n[]", "n]1", "n[1", "n[1-2-3]", "n[-1]", "n[+1]", "n[1[2]]", "n 1", "n[0000000001]"})
        EXPECT_THAT(expand_hosts(odd, 100), IsEmpty()) << odd;
}

SlurmNode node_below(const std::string& name, std::vector<std::string> leaves)
{
    return {.partition = "main",
            .name = name,
            .cpus = 8,
            .cores = 8,
            .memory_bytes = 8LL << 30U,
            .features = "",
            .gres = "",
            .is_usable = true,
            .leaf_switches = std::move(leaves)};
}

/// Units of four cores: two a node.
UnitType cut_in_halves(const std::vector<SlurmNode>& nodes)
{
    UnitCut cut;
    cut.name = "quad";
    cut.cores_per_unit = 4;
    cut.partition = "main";
    AgentTables tables;
    tables.unit_types = {cut};
    return cut_nodes(nodes, tables, {{"dgemm"}, "", false}).value().at(0);
}

TEST(LeafSwitchFacts, SayHowManyUnitsShareASwitch)
{
    const UnitType type = cut_in_halves({node_below("n1", {"leaf0"}), node_below("n2", {"leaf0"}),
                                         node_below("n3", {"leaf0", "leaf1"}), node_below("n4", {"leaf1"})});

    EXPECT_EQ(type.report.facts.at("leaf_switches"),
              Json({{"count", 2}, {"most_units_of_one", 6}, {"nodes", {{"leaf0", 3}, {"leaf1", 2}}}}));
    EXPECT_EQ(type.place->units_per_switch, 6);
}

TEST(LeafSwitchFacts, SayWhatIsNotKnown)
{
    const UnitType type = cut_in_halves({node_below("n1", {}), node_below("n2", {})});
    EXPECT_TRUE(type.report.facts.at("leaf_switches").contains("absent"));
    EXPECT_FALSE(type.report.facts.at("leaf_switches").contains("count"));
    EXPECT_EQ(type.place->units_per_switch, 0);

    const UnitType partly = cut_in_halves({node_below("n1", {"leaf0"}), node_below("n2", {})});
    EXPECT_EQ(partly.report.facts.at("leaf_switches").at("nodes_without"), 1);
    EXPECT_EQ(partly.place->units_per_switch, 2);
}

TEST(LeafSwitchFacts, NameAFewSwitchesOnly)
{
    std::vector<SlurmNode> nodes;
    for (int i = 0; i < 33; ++i)
        nodes.push_back(node_below("n" + std::to_string(i), {"leaf" + std::to_string(i)}));

    const Json facts = cut_in_halves(nodes).report.facts.at("leaf_switches");

    EXPECT_EQ(facts.at("count"), 33);
    EXPECT_FALSE(facts.contains("nodes"));
}

TEST(LeafSwitchFacts, ThatChangeAreNoticed)
{
    Hardware before;
    before.nodes = describe_nodes({node_below("n1", {"leaf0"})});
    Hardware now;
    now.nodes = describe_nodes({node_below("n1", {"leaf1"})});

    EXPECT_TRUE(has_changed(before, now));
}

/// Of a job of so many units, two of which a node has, and eight a leaf switch.
std::string script_for(std::int64_t units, std::int64_t wait_s, std::int64_t units_per_switch = 8)
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.order.unit_count = units;
    run.place = BatchPlace{.partition = "main",
                           .constraint = {},
                           .cpus_per_unit = 4,
                           .units_per_node = 2,
                           .units_per_switch = units_per_switch};
    return batch_script(run, {"/shared/att"},
                        {.account = {}, .qos = {}, .user = {}, .programs = {}, .switches_wait_s = wait_s})
        .value();
}

TEST(BatchScriptSwitches, AreAskedForWhereAJobSpansNodesAndFitsBelowOne)
{
    EXPECT_THAT(script_for(3, 90), HasSubstr("\n#SBATCH --switches=1@1:30\n"));
    EXPECT_THAT(script_for(8, 90), HasSubstr("\n#SBATCH --switches=1@1:30\n"));
}

TEST(BatchScriptSwitches, AreNotAskedForInVain)
{
    EXPECT_THAT(script_for(2, 90), Not(HasSubstr("--switches"))) << "one node has them";
    EXPECT_THAT(script_for(9, 90), Not(HasSubstr("--switches"))) << "no switch has so many";
    EXPECT_THAT(script_for(3, 0), Not(HasSubstr("--switches"))) << "the center does not want it";
    EXPECT_THAT(script_for(3, 90, 0), Not(HasSubstr("--switches"))) << "Slurm tells no switches";
}

} // namespace
} // namespace fathom::agent
