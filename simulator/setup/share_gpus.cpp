#include "simulator/setup/share_gpus.hpp"

#include "simulator/corun/corun_workloads.hpp"
#include "simulator/workloads/gavel.hpp"
#include "simulator/world/check_scenario.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace fathom::simulation {
namespace {

constexpr std::int64_t kPartsPerGpu = 2; ///< the table has pairs
/// Of pairs that nobody measured: both take turns.
constexpr double kTurn = 0.5;
constexpr double kMinKept = 1e-3; ///< less is as much as nothing: they do not run together
constexpr double kMaxKept = 2;

/// Values of the first column, below its heading.
std::set<std::string, std::less<>> gpus_in(const std::string& pairs)
{
    std::set<std::string, std::less<>> names;
    std::istringstream lines(pairs);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line))
        names.insert(line.substr(0, line.find(',')));
    return names;
}

/// By job type of the network: the kind of the table; empty: it is not in it.
std::vector<std::optional<std::size_t>> kinds_of(const Network& network, const CorunWorld& world)
{
    std::vector<std::optional<std::size_t>> kinds;
    for (const JobType& type : network.job_types) {
        const auto found = std::find_if(world.kinds.begin(), world.kinds.end(), [&](const CorunKind& kind) {
            return kind.name == type.name || gavel_type_name(kind.name) == type.name;
        });
        kinds.push_back(found == world.kinds.end()
                            ? std::optional<std::size_t>()
                            : std::optional(static_cast<std::size_t>(found - world.kinds.begin())));
    }
    return kinds;
}

std::vector<double> kept_beside(const Network& network, const CorunWorld& world)
{
    const std::vector<std::optional<std::size_t>> kinds = kinds_of(network, world);
    std::vector<double> kept;
    kept.reserve(kinds.size() * kinds.size());
    for (const std::optional<std::size_t>& kind : kinds) {
        for (const std::optional<std::size_t>& other : kinds) {
            const bool is_known = kind && other;
            const double share = is_known ? world.shares.at(*kind, *other) : kTurn;
            const bool fits = share >= kMinKept && (!is_known || world.shares.at(*other, *kind) >= kMinKept);
            kept.push_back(fits ? std::min(share, kMaxKept) : 0);
        }
    }
    return kept;
}

} // namespace

Result<Scenario> share_gpus(const Scenario& scenario, const std::string& pairs)
{
    const std::set<std::string, std::less<>> gpus = gpus_in(pairs);
    Scenario shared = scenario;
    std::map<std::string, std::vector<double>> kept_by_gpu;
    for (UnitType& unit_type : shared.network.unit_types) {
        if (!gpus.contains(unit_type.name)) continue;
        const auto [kept, is_new] = kept_by_gpu.try_emplace(unit_type.name);
        if (is_new) {
            std::istringstream text(pairs);
            const Result<CorunWorld> world = read_gavel_pairs(text, unit_type.name);
            if (!world) return world.error();
            kept->second = kept_beside(shared.network, *world);
        }
        unit_type.unit_count *= kPartsPerGpu;
        unit_type.units_per_device = kPartsPerGpu;
        unit_type.kept_beside = kept->second;
    }
    if (kept_by_gpu.empty())
        return Error{Errc::kInvalid, "none of the network's unit types is a GPU that the table of pairs names"};
    if (const Result<void> valid = check_scenario(shared); !valid) return valid.error();
    return shared;
}

} // namespace fathom::simulation
