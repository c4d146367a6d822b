#pragma once

#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/route.hpp"

#include <string>
#include <vector>

/// What decisions say of themselves, for people.
namespace fathom {

/// Completions closer than this are a tie: below the noise of any measurement.
constexpr double kTieFraction = 0.01;

/// Why `chosen` units; empty when the job asks for them and there is no curve to compare with.
/// @param knee  of the job on this unit type.
std::string count_reason_of(const ScaledRun& run, const UnitRequest& units, std::int64_t chosen, std::int64_t knee);

/// Why none of its GPUs has the memory now that a job needs, with the figures of the one that lacks least.
std::string gpu_memory_obstacle(const GpuMemoryRequest& need, const UnitTypeView& view);

/// Adds to the reason of its count that the job has its devices alone, and how many units that takes.
void add_exclusive_reason(Candidate& winner);

/// "would complete 10 s after the deadline (2026-12-01T18:00:00Z)".
std::string missed_deadline_reason(const TransferRequest& request, const Candidate& candidate);

/// "would cost 12.50, the budget is 10.00".
std::string missed_budget_reason(double budget, const Candidate& candidate);

/// How many of its host's cores others are expected to hold, and what that costs it.
std::string neighbours_assumption(const NeighbourCost& neighbours);
/// What those on the GPU that it would share are taken to cost it.
std::string gpu_share_assumption(const GpuShareCost& cost);
/// What of GPU memory may be missing there.
std::string gpu_room_assumption(const GpuRoomCost& cost);

/// Sets the reason of each feasible candidate: why it won, or what it lost by. The first has won.
void explain_ranking(const RouteRequest& request, std::vector<Candidate>& candidates);

/// What was not known when the winner won.
/// What the winner's run time rests on, the heaviest first.
std::vector<PredictionRung> list_rungs(const RouteRequest& request, const Candidate& winner);

std::vector<std::string> list_assumptions(const RouteRequest& request, const Candidate& winner);

} // namespace fathom
