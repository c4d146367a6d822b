#pragma once

#include "simulator/live/export_rates.hpp"

#include <map>
#include <string>
#include <vector>

namespace fathom::simulation {

/// What a running network says of its centers.
struct NetworkLists {
    Json unit_types;  ///< active ones, with their centers' names
    Json prices;      ///< the price book in force; null: nothing has a price
    Json maintenance; ///< all that is known, cancelled ones left out
    Json windows;     ///< of the networks
    Json scores;      ///< of dgemm
    Json calibration;
};
Result<NetworkLists> read_network(NetworkSource& source);

/// The centers file of that network. What it cannot say is added to `notes`, for people.
/// @param begins  the Monday 00:00 UTC that is second 0.
Json centers_document(const NetworkLists& lists, const std::map<std::string, ExportedType>& types, Timestamp begins,
                      std::vector<std::string>& notes);

} // namespace fathom::simulation
