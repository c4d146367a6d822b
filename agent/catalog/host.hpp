#pragma once

#include "agent/catalog/device.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/last_level_cache.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::agent {

/// One physical core with those of its processors (hardware threads) that the center offers.
struct HostCore {
    std::int64_t numa_node{};
    std::vector<std::int64_t> cpus; ///< as the kernel numbers them; not empty
};

/// What this machine is, as far as unit types are concerned.
struct Host {
    std::vector<HostCore> cores;                   ///< offered ones, neighbours beside each other
    std::int64_t host_cores{};                     ///< all cores of the machine, offered or not
    std::int64_t host_threads{};                   ///< all hardware threads of the machine, likewise
    std::int64_t memory_bytes{};                   ///< all memory of the machine
    std::vector<LastLevelCache> last_level_caches; ///< of the offered cores, as far as the kernel tells them
    std::vector<HostDevice> devices;               ///< GPUs and what the center describes
    Json machine = Json::object();                 ///< facts of the machine: hostname, kernel, memory, …
    Json processor = Json::object(); ///< facts of each unit: cpu_model, isa, sizes of one cache each, numa_nodes
};

/// Looks at this machine through hwloc and /proc.
/// @param offered  processors to offer; empty for all that this process may use.
/// @error kInvalid  a processor that does not exist or that this process may not use.
Result<Host> discover_host(const std::vector<std::int64_t>& offered);

} // namespace fathom::agent
