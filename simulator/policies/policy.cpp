#include "simulator/policies/policy.hpp"

#include "simulator/policies/policy_dispatch.hpp"
#include "simulator/policies/policy_order.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fathom::simulation {
namespace {

struct Entry {
    PolicyName name;
    PolicyMaker (*make)();
    KnowledgeKind knowledge{};
};

template <OrderRule rule, LoadKnowledge load = LoadKnowledge::kMeasured>
PolicyMaker ordered()
{
    return order_policy(rule, load);
}

template <DispatchRule rule>
PolicyMaker dispatched()
{
    return dispatch_policy(rule);
}

constexpr std::array kPolicies{
    Entry{{"fathom", "Fathom"}, ordered<OrderRule::kAdvantage>, KnowledgeKind::kMeasured},
    Entry{{"oracle", "Fathom, if it knew every run time"}, ordered<OrderRule::kAdvantage>, KnowledgeKind::kPerfect},
    Entry{{"random", "random"}, dispatched<DispatchRule::kRandom>, KnowledgeKind::kNominal},
    Entry{{"round_robin", "round robin"}, dispatched<DispatchRule::kRoundRobin>, KnowledgeKind::kNominal},
    Entry{{"least_loaded", "least loaded"}, dispatched<DispatchRule::kLeastLoaded>, KnowledgeKind::kNominal},
    Entry{{"peak_flops", "highest peak FLOPS"}, dispatched<DispatchRule::kPeakFlops>, KnowledgeKind::kNominal},
    Entry{{"benchmark", "best single benchmark"}, dispatched<DispatchRule::kBenchmark>, KnowledgeKind::kNominal},
    Entry{{"favourite", "user's favourite"}, dispatched<DispatchRule::kFavourite>, KnowledgeKind::kNominal},
    Entry{{"shortest_completion", "shortest completion by data sheets"},
          dispatched<DispatchRule::kShortestCompletion>,
          KnowledgeKind::kNominal},
    Entry{{"shortest_estimate_first", "shortest first by users' estimates and data sheets"},
          ordered<OrderRule::kShortestFirst>,
          KnowledgeKind::kNominal},
    Entry{{"first_come", "first come, first served, by measured times"},
          ordered<OrderRule::kFirstCome>,
          KnowledgeKind::kMeasured},
    Entry{{"shortest_first", "shortest first by measured times"},
          ordered<OrderRule::kShortestFirst>,
          KnowledgeKind::kMeasured},
    Entry{{"advantage_no_waiting", "Fathom without waiting for better places"},
          ordered<OrderRule::kAdvantage, LoadKnowledge::kAssumedFull>,
          KnowledgeKind::kMeasured},
    Entry{{"min_cost_assignment", "Fathom with min-cost assignment"},
          ordered<OrderRule::kMinCostAssignment>,
          KnowledgeKind::kMeasured},
};

constexpr auto kNames = [] {
    std::array<PolicyName, kPolicies.size()> names;
    std::transform(kPolicies.begin(), kPolicies.end(), names.begin(), [](const Entry& entry) { return entry.name; });
    return names;
}();

} // namespace

PolicyStart Policy::choose(const PolicyView& /*view*/, std::size_t job, std::span<const std::uint32_t> unit_types)
{
    return {.job = job, .unit_type = unit_types.front()};
}

bool Policy::arrive(const PolicyView& /*view*/, std::size_t /*job*/)
{
    return true;
}

std::vector<PolicyStart> Policy::decide(const PolicyView& /*view*/)
{
    return {};
}

std::vector<std::size_t> Policy::take_given_up()
{
    return {};
}

double Policy::wake_at_s(const PolicyView& /*view*/) const
{
    return std::numeric_limits<double>::infinity();
}

void Policy::end(const PolicyView& /*view*/, const PolicyStart& /*start*/, double /*started_s*/, bool /*has_failed*/) {}

std::span<const PolicyName> policy_names()
{
    return kNames;
}

NamedPolicy find_policy(std::string_view name)
{
    const auto found =
        std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Entry& entry) { return entry.name.name == name; });
    if (found == kPolicies.end()) return {};
    return {found->make(), found->knowledge};
}

} // namespace fathom::simulation
