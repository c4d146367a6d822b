#pragma once

#include "core/base/result.hpp"
#include "simulator/world/scenario.hpp"

#include <string>

namespace fathom::simulation {

/// The same jobs where two at a time may share a GPU: each unit of the unit types whose names the table of pairs has
/// becomes two parts of one device. Job types are found in the table by their names, as the public set writes them or
/// as its reader calls them; of pairs that are not in it both take turns. No class of a job is known: who is put beside
/// whom follows from pairs that have run together (simulator/engine/device_sharing.hpp).
/// @param scenario  a valid one, of whole devices
/// @param pairs     text as read_gavel_pairs() takes it
/// @error kInvalid  the table cannot be read, has none of the network's unit types, or a job asks for several units.
Result<Scenario> share_gpus(const Scenario& scenario, const std::string& pairs);

} // namespace fathom::simulation
