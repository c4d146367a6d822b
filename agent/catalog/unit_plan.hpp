#pragma once

#include "agent/catalog/batch_place.hpp"
#include "agent/catalog/host.hpp"
#include "agent/config/agent_config.hpp"
#include "core/model/center.hpp"
#include "core/model/resources.hpp"

namespace fathom::agent {

/// One unit: the smallest piece of this center that is given away.
struct Unit {
    std::vector<std::int64_t> cpus;    ///< its own, ascending; none of a device without any; where the executor places,
                                       ///< one number that no other unit has
    std::vector<UnitDevice> devices{}; ///< its own
    std::vector<std::int64_t> host_cpus{}; ///< where it runs without cores of its own: other units' as well
};

/// The names of a unit's devices (device_name()).
std::vector<std::string> device_names(const Unit& unit);

/// The units of one type, as reported and as they really are.
struct UnitType {
    UnitTypeReport report;
    std::vector<Unit> units; ///< report.unit_count of them; a unit's index is its name on the wire
    DeviceSharing sharing = DeviceSharing::kNone;
    std::optional<BatchPlace> place = std::nullopt; ///< where the executor places
    /// Units that have a device together, or a chain of devices: so many each time, beside each other; fewer at the
    /// end.
    std::int64_t units_per_device = 1;
};

using UnitPlan = std::vector<UnitType>;

/// What fathom-probe can do with the devices of one kind.
struct DeviceAbilities {
    std::vector<std::string> operators;
    Json facts = Json::object(); ///< that it measured or read: name, gpu_parallelism, bus_gb_s
};

/// What `fathom-probe --list` said about this center.
struct ProbeAbilities {
    std::vector<std::string> operators; ///< on processors
    std::string blas_core_type;         ///< what OpenBLAS picks here; empty: not known
    bool accepts_uploads{};             ///< uploaded operators can run: keys are trusted, and a sandbox can be made
    std::map<std::string, DeviceAbilities> devices{}; ///< by resource type
};

/// A cut of the machine, with what it had too little for.
struct CutUnits {
    UnitPlan plan;
    std::vector<FieldError> shortfalls;            ///< by the config's key: types that have fewer units than it says
    std::vector<ResourceDifference> differences{}; ///< the same, by unit type and with numbers
};

/// How the units are cut: as the config says, or without tables as cut_what_fits() says.
std::vector<UnitCut> effective_cuts(const Host& host, const AgentTables& tables);

/// Cuts the offered cores and the devices into units, in the order of the config; no core and no device is in two
/// units. A unit's cores come from the NUMA node of its devices or from one that still has enough, if there is one,
/// else from several. Without cuts: a type "gpu" with a core for each whole GPU where there are more cores than GPUs,
/// and a type "core" of what is left. Pure: same input, same plan.
CutUnits cut_what_fits(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities);

/// The same, for a config that must fit.
/// @error kInvalid  the cuts do not fit the machine's cores; each with its key. Devices may be missing.
Result<UnitPlan> cut_units(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities);

/// Operators that fathom-probe has for units of a resource type.
const std::vector<std::string>& offered_operators(const std::string& resource_type, const ProbeAbilities& abilities);

/// Operators that the config names and this center's fathom-probe does not have.
std::vector<std::string> unknown_operators(const AgentTables& tables, const ProbeAbilities& abilities);

} // namespace fathom::agent
