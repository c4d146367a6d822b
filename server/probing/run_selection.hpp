#pragma once

#include "core/model/probe_task.hpp"
#include "server/centers/unit_type_directory.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// How the units of a probe run are chosen (M13).
enum class RunSelection {
    kCatalog, ///< (a) every unit type whose operators include the task's
    kUser,    ///< (c) the unit types that the caller names
    kCenter,  ///< (d) each center chooses among its own and reports what it used
};
std::string_view to_string(RunSelection selection);

/// What a caller asked for.
struct SelectionOrder {
    RunSelection selection{RunSelection::kCatalog};
    std::vector<std::string> unit_types; ///< kUser: ids or "center/unit_type"
    std::vector<std::string> centers;    ///< others: ids or names; empty for all
    std::int64_t unit_count{1};          ///< M14
};

/// Where a probe task runs: one run for each of the unit types returned. For kCenter that is one proposal a
/// center. Pure.
/// @param offers  what the centers offer, ordered by center.
/// @error kInvalid     a name that stands for nothing, or a picked unit type that cannot run the task.
/// @error kInfeasible  nowhere in the network, or at a named center nowhere; the reason for each place.
Result<std::vector<UnitTypeOffer>> select_unit_types(const SelectionOrder& order,
                                                     const std::vector<OperatorUse>& operators,
                                                     const std::vector<UnitTypeOffer>& offers);

} // namespace fathom::server
