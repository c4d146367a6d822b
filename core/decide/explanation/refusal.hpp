#pragma once

#include "core/decide/routing/route.hpp"

#include <optional>
#include <vector>

/// Why nothing in the network could ever run a job, so that it is refused when it is submitted and does not wait for
/// ever. What is only closed or busy now can run it later.
namespace fathom {

/// Centers, unit types and data sites that the job names and that are not there: `units.center`, `units.type`,
/// `data.sites[i]`, each with the name that was probably meant. Of many data sites the first 16 are named, and the
/// others counted under `data.sites`.
std::vector<FieldError> find_unknown_names(const RouteRequest& request, std::span<const UnitTypeView> unit_types);

/// The constraint that no unit type keeps, of the last filter that any reaches, with the nearest that there is: "no
/// unit type has 100 units; the largest is beta/core with 64". Empty when some unit type could run the job. Quota,
/// deadline and budget are not looked at: they need a run time (route(), nearest_alternative()).
std::optional<FieldError> find_unkept_constraint(const RouteRequest& request, std::span<const UnitTypeView> unit_types);

/// Why each cannot, one field a unit type ("alpha/core"), at most `most` of them.
std::vector<FieldError> list_obstacles(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                                       std::size_t most);

} // namespace fathom
