#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// Completes a job's operators by the library: fixes the version (0 becomes the newest), fills in default
/// parameters. What is unknown, withdrawn or out of range is added to `errors`, its field after `prefix`.
/// May be called again on the same spec with a newer catalog after errors.
void complete_operators(JobSpec& spec, const CatalogSnapshot& catalog, const std::string& prefix,
                        std::vector<FieldError>& errors);

/// Adds errors to `errors`, their fields after `prefix`: a deadline that is not after `now`, a budget that the prices
/// of the network cannot be held against.
void check_terms(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now, const std::string& prefix,
                 std::vector<FieldError>& errors);

/// Whether any unit type of the network could ever run the job; centers that are only closed now count. Deadline and
/// budget are not looked at (JobLimits).
/// @error kInfeasible  what it names that is not there; or the constraint that no unit type keeps, with the nearest
/// that there is, and then why not for each of some unit types ("alpha/core").
/// @param refused_by  RouteRequest::refused_by
Result<void> check_feasible(const JobSpec& spec, const CatalogSnapshot& catalog,
                            std::vector<std::string> refused_by = {});

/// Gives a job that names no operators those that its type was last seen to execute (M11), for its owner or else its
/// project, unless they are withdrawn by now or no unit type could run them.
/// @return the id of the job that they were learned from; empty when it got none.
std::string take_learned_operators(JobSpec& spec, std::string_view owner, const CatalogSnapshot& catalog);

} // namespace fathom::server
