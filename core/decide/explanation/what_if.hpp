#pragma once

#include "core/decide/routing/route.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// A decision as it would be if the network were otherwise.
namespace fathom {

/// Another price of a unit type, at all hours.
struct PriceChange {
    std::string center;    ///< name
    std::string unit_type; ///< `*`: all of the center that are not named themselves
    std::int64_t per_unit_hour_micros{};
};

/// Changes of the network; what changes in the job itself is written into the job.
struct WhatIf {
    std::vector<PriceChange> prices;
    std::vector<std::string> exclude_centers; ///< names
    std::vector<std::string> only_centers;    ///< empty: all
    std::vector<std::string> free_centers;    ///< as if no job ran or waited there; maintenance stays
    std::optional<Timestamp> now;             ///< decided at this moment instead
};

/// `{"prices": [{"center", "unit_type", "per_unit_hour": "0.10"}], "exclude_centers": [], "only_centers": [],
/// "free_centers": [], "now": "2026-12-01T18:00:00Z"}`, strictly; adds to `errors` what is wrong.
WhatIf parse_what_if(const Json& json, const std::string& path, std::vector<FieldError>& errors);

/// What does not fit the network: centers and unit types that it does not have, a moment that has passed, prices where
/// nothing has one.
/// @param currency  of the network's prices; empty: it has none.
void check_what_if(const WhatIf& what_if, std::span<const UnitTypeView> unit_types, std::string_view currency,
                   Timestamp now, const std::string& path, std::vector<FieldError>& errors);

/// Makes the changes. What runs longer than until the changed moment is still there then.
void apply_what_if(const WhatIf& what_if, RouteRequest& request, std::vector<UnitTypeView>& unit_types);

} // namespace fathom
