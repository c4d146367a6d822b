// What nodes, as an API server writes them, are as units.

#include "agent/executor/kubernetes/node_units.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

ClusterNode node_of(const std::string& name, const std::string& spec = "{}", const std::string& ready = "True",
                    const std::string& devices = "")
{
    return read_node(parse_json(R"({"metadata": {"name": ")" + name +
                                R"(", "labels": {"kubernetes.io/arch": "amd64", "pool": ")" + name + R"("}},
        "spec": )" + spec + R"(, "status": {"allocatable": {"cpu": "3920m", "memory": "8Gi", "pods": "110")" +
                                devices + R"(}, "conditions": [{"type": "Ready", "status": ")" + ready + R"("}]}})")
                         .value());
}

PodDemand demand_of(const std::string& labels)
{
    return read_demand(parse_json(R"({"metadata": {"labels": )" + labels + R"(}, "spec": {"nodeName": "a",
        "containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}, {}],
        "initContainers": [{"resources": {"requests": {"cpu": "1500m"}}}]}, "status": {"phase": "Running"}})")
                           .value())
        .value();
}

const NodeUnitOptions kOptions{.center = "alpha",
                               .unit_labels = {"kubernetes.io/arch", "nvidia.com/gpu.product"},
                               .device_resources = {{"cuda", "nvidia.com/gpu"}}};

TEST(KubernetesNodes, AreOfferedOnlyWhereTheyTakePods)
{
    const ClusterView view{.nodes = {node_of("a"), node_of("b", R"({"unschedulable": true})"),
                                     node_of("c", R"({"taints": [{"key": "x", "effect": "NoSchedule"}]})"),
                                     node_of("d", "{}", "Unknown"),
                                     node_of("e", R"({"taints": [{"key": "x", "effect": "PreferNoSchedule"}]})")},
                           .demands = {}};

    const ReconciledUnits units = cut_cluster(view, {}, {}, kOptions);

    ASSERT_THAT(units.plan, SizeIs(1));
    EXPECT_EQ(units.plan[0].report.name, "amd64");
    EXPECT_EQ(units.plan[0].report.unit_count, 6); // three whole processors of each of two nodes
    EXPECT_EQ(units.plan[0].place->units_per_node, 3);
    EXPECT_EQ(units.plan[0].place->constraint, "kubernetes.io/arch=amd64");
    EXPECT_EQ(units.plan[0].report.memory_bytes_per_unit % (1 << 20), 0);
}

TEST(KubernetesNodes, HaveFewerUnitsWhereOthersPodsRequestThem)
{
    const PodDemand others = demand_of("{}");
    EXPECT_EQ(others.resources.cpu_millis, 1500); // the larger of containers and init containers
    const PodDemand own = demand_of(R"({"app.kubernetes.io/managed-by": "fathom", "fathom/center": "alpha"})");
    const PodDemand anothers = demand_of(R"({"app.kubernetes.io/managed-by": "fathom", "fathom/center": "beta"})");
    const auto count = [](std::vector<PodDemand> demands) {
        const ClusterView view{.nodes = {node_of("a")}, .demands = std::move(demands)};
        return cut_cluster(view, {}, {}, kOptions).plan.at(0).report.unit_count;
    };

    EXPECT_EQ(count({own}), 3);
    EXPECT_EQ(count({others}), 2);
    EXPECT_EQ(count({anothers}), 2);
}

TEST(KubernetesNodes, WithGpusAreUnitsOfOneGpu)
{
    const ClusterView view{.nodes = {node_of("a", "{}", "True", R"(, "nvidia.com/gpu": "2")")}, .demands = {}};

    const ReconciledUnits units = cut_cluster(view, {}, {}, kOptions);

    ASSERT_THAT(units.plan, SizeIs(1));
    EXPECT_EQ(units.plan[0].report.name, "amd64-gpu");
    EXPECT_EQ(units.plan[0].report.resource_type, "cuda");
    EXPECT_EQ(units.plan[0].report.unit_count, 2);
    EXPECT_EQ(units.plan[0].place->devices, "nvidia.com/gpu");
    EXPECT_EQ(units.plan[0].place->cpus_per_unit, 1);
}

TEST(KubernetesNodes, AreCutAsTheTablesSayAndOneTypeTakesWhatAnotherDoesNotGet)
{
    AgentTables tables;
    UnitCut pair;
    pair.name = "pair";
    pair.cores_per_unit = 2;
    pair.constraint = "pool=a";
    UnitCut rest;
    rest.name = "rest";
    rest.unit_count = 5;
    UnitCut none;
    none.name = "none";
    none.constraint = "pool=z";
    tables.unit_types = {pair, rest, none};
    const ClusterView view{.nodes = {node_of("a"), node_of("b")}, .demands = {}};
    for (UnitCut& cut : tables.unit_types)
        cut.memory_bytes_per_unit = 1 << 20;

    const ReconciledUnits units = cut_cluster(view, tables, {}, kOptions);

    ASSERT_THAT(units.plan, SizeIs(2));
    EXPECT_EQ(units.plan[0].report.unit_count, 1);
    EXPECT_EQ(units.plan[1].report.unit_count, 4); // one processor of a, three of b
    ASSERT_THAT(units.differences, SizeIs(2));
    EXPECT_EQ(units.differences[0].unit_type, "rest");
    EXPECT_EQ(units.differences[0].seen, 4);
    EXPECT_THAT(units.differences[1].detail, HasSubstr("pool=z"));
}

TEST(KubernetesNodes, AreDescribedByAllThatUnitsAreCutBy)
{
    const ClusterView empty{.nodes = {node_of("a")}, .demands = {}};
    const ClusterView busy{.nodes = {node_of("a")}, .demands = {demand_of("{}")}};

    EXPECT_THAT(describe_cluster(empty, kOptions),
                ElementsAre("a|3920|8589934592|3920|8589934592|kubernetes.io/arch=amd64|pool=a"));
    EXPECT_NE(describe_cluster(empty, kOptions), describe_cluster(busy, kOptions));
}

} // namespace
} // namespace fathom::agent
