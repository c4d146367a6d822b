#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// What `cores_per_unit` counts.
enum class ProcessorKind {
    kCore,   ///< physical cores, each with all of its hardware threads
    kThread, ///< hardware threads: units may share a core
};

/// How a unit's processors lie on the NUMA nodes.
enum class NumaRule {
    kPrefer, ///< on one node where one still has enough
    kWithin, ///< on one node; what is left over on each is not offered
    kWhole,  ///< a unit is all of a node
};

/// How a device is handed to units.
enum class DeviceSharing {
    kNone,      ///< a unit has whole devices
    kMps,       ///< NVIDIA's Multi-Process Service, which the center runs: parts compute at the same time
    kTimeSlice, ///< the driver's turns: a part is nothing but leave to use the device
    kMig,       ///< Multi-Instance GPUs: the driver has cut the device, and tells of each part
};
std::string_view to_string(DeviceSharing sharing);

/// How one unit type is cut from what a center has: a `[[unit_type]]` table of the agent's file, or an item of a
/// center's resource configuration (M9).
struct UnitCut {
    std::string name;
    std::string resource_type = "cpu"; ///< else what kind of device it has: "cuda" or a `kind` of `[[device]]`
    std::int64_t cores_per_unit = 1;   ///< 0: a device's unit whose host part runs on processors of other units
    ProcessorKind processors = ProcessorKind::kCore;
    NumaRule numa = NumaRule::kPrefer;
    std::int64_t devices_per_unit = 0; ///< devices, or parts of them; 0 for "cpu"
    DeviceSharing sharing = DeviceSharing::kNone;
    std::int64_t parts_per_device = 1;         ///< of kMps and kTimeSlice
    std::string device_model;                  ///< only devices whose model contains it; empty: any
    std::int64_t unit_count = 0;               ///< 0: as many as fit
    std::int64_t memory_bytes_per_unit = 0;    ///< of the host; 0: the share of the host's memory that its cores have
    std::vector<std::string> operators;        ///< empty: all that its resource type has
    std::string partition;                     ///< of Slurm; empty: the first that the center offers
    std::string constraint;                    ///< features that Slurm's nodes must have, as sbatch takes them
    std::map<std::string, std::string> labels; ///< for people; told with the unit type's facts

    bool operator==(const UnitCut&) const = default;
};

/// The most devices of a host, parts counted.
inline constexpr std::int64_t kMaxDevices = 4096;
inline constexpr std::size_t kMaxUnitCuts = 100;

/// The unit types of the array `field`, which may be missing; errors go to the reader's list. Names stand once.
std::vector<UnitCut> read_unit_cuts(ObjectReader& reader, std::string_view field, std::size_t least_count,
                                    UnknownFields unknown, std::vector<FieldError>& errors);
/// As read_unit_cuts() reads it; what is as it is by default is left out.
Json to_json(const UnitCut& cut);

} // namespace fathom
