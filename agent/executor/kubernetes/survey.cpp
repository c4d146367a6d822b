#include "agent/executor/kubernetes/survey.hpp"

#include "agent/executor/kubernetes/kubernetes_client.hpp"

namespace fathom::agent {
namespace {

NodeUnitOptions unit_options(const KubernetesConfig& config)
{
    return {.center = config.center,
            .unit_labels = config.unit_labels,
            .node_selector = config.node_selector,
            .device_resources = config.device_resources};
}

/// What pods hold: of all namespaces, or where that is not allowed of the Jobs' own. A cluster has thousands of pods,
/// of each of which a few numbers are kept.
Result<std::vector<PodDemand>> list_demands(KubernetesClient& client)
{
    const std::string query = "fieldSelector=" + percent_encode("status.phase!=Succeeded,status.phase!=Failed");
    std::vector<PodDemand> demands;
    const auto add = [&](const Json& pod) {
        if (std::optional<PodDemand> demand = read_demand(pod)) demands.push_back(std::move(*demand));
    };
    Result<std::string> listed = client.list_each("/api/v1/pods", query, add);
    if (!listed && listed.error().code == Errc::kForbidden) {
        demands.clear();
        listed = client.list_each(client.path_of("/api/v1", "pods"), query, add);
    }
    if (!listed) return listed.error();
    return demands;
}

Result<ClusterView> view_cluster(const KubernetesConfig& config)
{
    KubernetesClient client(config);
    ClusterView view;
    const Result<std::string> nodes =
        client.list_each("/api/v1/nodes", "", [&](const Json& node) { view.nodes.push_back(read_node(node)); });
    if (!nodes) return nodes.error();
    Result<std::vector<PodDemand>> demands = list_demands(client);
    if (!demands) return demands.error();
    view.demands = std::move(*demands);
    return view;
}

} // namespace

Result<CenterOffer> survey_kubernetes(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order)
{
    const Result<ClusterView> view = view_cluster(config.kubernetes);
    if (!view) return view.error();
    // Devices of this host are not those of the nodes.
    const ProbeAbilities abilities = ask_probe_program(config, Host{});
    ReconciledUnits units = cut_cluster(*view, config.tables, abilities, unit_options(config.kubernetes));
    if (!order.wanted.empty() && config.remote_resources != RemoteRule::kOff)
        units.differences.push_back({.code = "kept_by_file",
                                     .detail = "all unit types are as the agent's file says: the nodes of a Kubernetes "
                                               "cluster are cut by it alone"});
    return make_offer(std::move(units), executor_facts, config.remote_resources);
}

Result<Hardware> look_at_kubernetes(const AgentConfig& config)
{
    const Result<ClusterView> view = view_cluster(config.kubernetes);
    if (!view) return view.error();
    Hardware seen;
    seen.nodes = describe_cluster(*view, unit_options(config.kubernetes));
    return seen;
}

} // namespace fathom::agent
