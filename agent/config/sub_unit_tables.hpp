#pragma once

#include "agent/config/unit_tables.hpp"

#include <chrono>
#include <filesystem>

namespace fathom::agent {

/// Sub-units of this center that may go to others, and come from them: a `[[sub_units]]` table (R8).
struct SubUnitRule {
    std::string kind{};                     ///< the same name at every center that shares them
    std::string unit_type{};                ///< whose units are made of them
    std::int64_t sub_units_per_unit = 1;    ///< how many a unit is made of
    std::int64_t total = 0;                 ///< that this center brings into the network
    std::int64_t most = 0;                  ///< that its machines could have; 0: as many as the unit type has now
    std::filesystem::path change_program{}; ///< moves them; empty: the count that is offered is all that changes
    std::chrono::seconds change_limit{60};  ///< after which the program counts as failed

    bool operator==(const SubUnitRule&) const = default;
};

/// The tables `[[sub_units]]`; errors go to the reader's list. Each kind and each unit type stands once.
/// @param unit_types  that there are; without any, "core" and "gpu".
std::vector<SubUnitRule> read_sub_units(ObjectReader& reader, const std::vector<UnitCut>& unit_types,
                                        std::vector<FieldError>& errors);

} // namespace fathom::agent
