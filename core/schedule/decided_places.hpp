#pragma once

#include "core/decide/routing/route.hpp"

#include <optional>

/// What the order of jobs asks a decision, and changes in it; part of core/schedule/schedule.
namespace fathom {

/// Whether the job takes units as soon as some are free: the decision has a winner, which waits neither for a window
/// nor for a quota.
bool wants_units(const Decision& decision);

/// The first place that is free now, as an index into the candidates.
std::optional<std::size_t> free_place(const Decision& decision);

/// The place at a unit type whose units the job must wait for, as an index into the candidates.
std::optional<std::size_t> later_place(const Decision& decision, const UnitTypeId& unit_type);

/// Whether the candidate could run the job, and only Filter::kSpeedup removed it: the order, which knows what GPUs are
/// worth to other jobs, may use it.
bool is_set_aside(const Candidate& candidate);

/// The candidate at `place` was set aside, and is used all the same: the decision no longer says that it was.
void take_back(Decision& decision, std::size_t place);

/// Makes the candidate at `place` the winner, where the order of the jobs put it, and says so.
void put_first(Decision& decision, std::size_t place);

} // namespace fathom
