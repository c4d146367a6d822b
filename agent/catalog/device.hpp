#pragma once

#include "agent/config/unit_tables.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fathom::agent {

/// A device of this host that can be given away: a GPU, a part that its driver has cut, an NPU.
struct HostDevice {
    std::string kind; ///< the resource type of its units: "cuda", or a description's
    std::string id;   ///< unique on this host, also after its start: "GPU-5f1c…"
    std::string model{};
    std::int64_t memory_bytes{}; ///< 0: not known
    std::int64_t numa_node{-1};  ///< -1: not known
    bool is_mig_part{};
    std::string variable{};           ///< tells a job which devices it has; may be empty
    std::string value{};              ///< the device in that variable
    std::vector<std::string> files{}; ///< device files that a job with it must be able to open
};

/// What a unit has of a device: all of it, or one of several equal parts.
struct UnitDevice {
    HostDevice device;
    std::int64_t part{};   ///< from 0
    std::int64_t parts{1}; ///< 1: the whole device
};

/// The name of a device or part, as it is stored: "GPU-5f1c…", "GPU-5f1c…#2/4".
std::string device_name(const UnitDevice& device);

/// The device's own name, of the name of one of its parts.
std::string_view whole_device_name(std::string_view name);

/// Whether both names have something of one device in common. Parts of different cuts of a device do.
bool devices_overlap(std::string_view a, std::string_view b);

/// The devices that an administrator describes, those whose files are there. Pure, given `exists`.
/// @param missing  gets a sentence for each device that is not there.
std::vector<HostDevice> described_devices(const std::vector<DeviceDescription>& descriptions,
                                          const std::function<bool(const std::string& path)>& exists,
                                          std::vector<std::string>& missing);

} // namespace fathom::agent
