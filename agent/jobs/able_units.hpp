#pragma once

#include "agent/jobs/unit_allocator.hpp"
#include "agent/spool/spool.hpp"
#include "schema/link/messages.hpp"

#include <span>

namespace fathom::agent {

/// Why units of a type cannot run all of these operators, for people; empty when they can. What counts is what this
/// center offers: the probe program's own list, cut down by the center's tables. Pure.
std::string why_unable(const UnitTypeReport& type, std::span<const OperatorNeed> operators);

/// The names of all unit types of a plan that can run them (M18), in the plan's order. Pure.
std::vector<std::string> able_unit_types(const UnitPlan& plan, std::span<const OperatorNeed> operators);

/// This center's answer to a question (M13b): each of its unit types, able or not. Pure.
link::UnitTypesAnswer answer_query(const link::UnitTypesQuery& query, const UnitAllocator& units);

/// What is reported of an attempt that started: what it holds, beside whom, and for a probe what else could have run
/// it.
link::AttemptStarted started_message(const StoredAttempt& attempt, Timestamp started_at, const UnitAllocator& units);

} // namespace fathom::agent
