#pragma once

#include "simulator/engine/device_sharing.hpp"
#include "simulator/engine/network_state.hpp"
#include "simulator/engine/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// Units that are busy or broken, where units are parts of devices the devices; and the work that jobs are said to be.
namespace fathom::simulation {

/// By unit type.
std::vector<std::int64_t> busy_units(const NetworkState& state, DeviceSharing& sharing);

/// Adds to the result, by unit type, how long units were busy and broken until now.
void add_unit_times(const Network& network, double now_s, NetworkState& state, DeviceSharing& sharing,
                    SimulationResult& result);

/// What a center's own queue is told of the job on so many units, in unit-seconds.
double told_work(const Scenario& scenario, std::size_t job, std::int64_t unit_count);

} // namespace fathom::simulation
