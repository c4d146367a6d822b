#include "agent/executor/slurm/gres.hpp"
#include "agent/executor/slurm/leaf_switches.hpp"
#include "agent/executor/slurm/survey.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever sinfo and scontrol print, the nodes in it have a name, a partition and processors, and are cut into units
/// within bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fathom::agent;
    const std::string_view text = fathom::fuzz::text_of(data, size);
    std::vector<SlurmNode> nodes = parse_nodes(text);
    for (const auto& [name, reserve] : parse_reserves(text)) {
        for (SlurmNode& node : nodes)
            take_reserve(node, reserve);
    }
    const LeafSwitches switches = parse_leaf_switches(text);
    FATHOM_ASSERT(switches.size() <= kMaxSlurmNodes);
    for (const auto& [name, leaves] : switches) {
        FATHOM_ASSERT(!name.empty() && name.size() <= 300 && !leaves.empty());
    }
    for (SlurmNode& node : nodes) {
        if (const auto found = switches.find(node.name); found != switches.end()) node.leaf_switches = found->second;
    }
    for (const SlurmNode& node : nodes) {
        FATHOM_ASSERT(!node.name.empty() && !node.partition.empty() && node.cores >= 1 && node.cores <= node.cpus);
        for (const SlurmDevices& devices : parse_gres(node.gres))
            FATHOM_ASSERT(devices.count >= 1 && devices.count <= 4096);
    }
    const fathom::Result<UnitPlan> plan = cut_nodes(nodes, {}, {});
    if (!plan) {
        fathom::fuzz::check_refusal(plan.error());
        return 0;
    }
    std::int64_t units = 0;
    for (const UnitType& type : *plan)
        units += static_cast<std::int64_t>(type.units.size());
    FATHOM_ASSERT(plan->size() <= 100 && units <= 65'536);
    return 0;
}
