#pragma once

#include "core/decide/order_jobs.hpp"
#include "core/decide/route.hpp"

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Decisions and unit types as core/decide/order_jobs looks at them.
namespace fathom {

/// The feasible places of a job, as far as it would go there: one that cares for money or energy has only those that
/// are as good as its best. Pointers into the decision.
std::vector<const Candidate*> wanted_places(const RouteRequest& request, const Decision& decision);
/// The same as the order of jobs sees them. @param index  of unit types, by id.
std::vector<JobOption> options_of(const RouteRequest& request, const Decision& decision,
                                  const std::unordered_map<std::string, std::size_t>& index);

/// The shortest of their run times; infinite without any.
double shortest_run_s(std::span<const JobOption> options);

/// Gives places without a predicted run time the median of all others; 600 s when there are none: a job of unknown
/// length is taken to be like the others.
void assume_run_times(std::vector<WaitingJobView>& views);

/// What each unit type is worth: what is known of it, else what it is worth to the jobs that wait. How fast work
/// arrives is not asked: worths do not depend on it. @param known  by unit type
std::vector<double> worths_for(std::span<const WaitingJobView> views, std::span<const UnitTypeView> unit_types,
                               std::span<const std::optional<double>> known);

/// What is free, and what frees when. Worth and load are 1.
std::vector<UnitTypeLoad> unit_type_loads(std::span<const UnitTypeView> unit_types);

} // namespace fathom
