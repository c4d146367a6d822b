#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <vector>

namespace fathom::probes {

/// How the processors that may be used lie in the machine, and how it is set up: what can make a unit slower than its
/// hardware. Facts that the kernel does not tell are left out, but for the caches, which say that they are absent:
/// `cpus_allowed_count`; `cores_allowed`, fewer when some are hardware threads of one core; `siblings_outside`,
/// processors of others on the same cores; `numa_nodes_used`; `last_level_cache_bytes` of all last-level caches that
/// the processors share, together; `caches`, by level the size of one and of all that they share; `cpu_governor`;
/// `cpu_frequency_driver`; `cpu_max_hz`; `transparent_hugepages`; `memory_channels`, `memory_channels_used`.
/// @param system  "/sys", or a folder like it
/// @param cpus    the processors that may be used, ascending, at least one
Json machine_facts(const std::string& system, const std::vector<int>& cpus);

/// The processors with those of one core beside each other, and the cores of one NUMA node: so agents cut them into
/// units, while the kernel's numbers jump. In the order of their numbers where the kernel does not tell.
/// @param system  "/sys", or a folder like it
std::vector<int> sorted_by_core(const std::string& system, const std::vector<int>& cpus);

} // namespace fathom::probes
