#pragma once

#include "server/routing/catalog_snapshot.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// Completes a job's operators by the library: fixes the version (0 becomes the newest), fills in default
/// parameters. What is unknown, withdrawn or out of range is added to `errors`, its field after `prefix`.
/// May be called again on the same spec with a newer catalog after errors.
void complete_operators(JobSpec& spec, const CatalogSnapshot& catalog, const std::string& prefix,
                        std::vector<FieldError>& errors);

/// Adds an error to `errors`, its field after `prefix`, when the job's deadline is not after `now`.
void check_deadline(const JobSpec& spec, Timestamp now, const std::string& prefix, std::vector<FieldError>& errors);

/// Whether any unit type of the network could ever run the job; centers that are only closed now count.
/// @error kInfeasible  none: one field error a unit type ("alpha/core"), or a detail that says there is none.
Result<void> check_feasible(const JobSpec& spec, const CatalogSnapshot& catalog);

/// Gives a job that names no operators those that its type was last seen to execute (M11), unless they are withdrawn
/// by now or no unit type could run them.
/// @return the id of the job that they were learned from; empty when it got none.
std::string take_learned_operators(JobSpec& spec, const CatalogSnapshot& catalog);

} // namespace fathom::server
