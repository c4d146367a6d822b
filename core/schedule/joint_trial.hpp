#pragma once

#include "core/decide/explanation/counterfactual.hpp"
#include "core/schedule/cycle_replay.hpp"

#include <functional>
#include <string_view>
#include <vector>

/// What would have changed a decision that was made together with others.
namespace fathom {

/// By what would the job have gone elsewhere, or gone first? Statements as those of find_counterfactuals(), and which
/// priority would have started it at once, or at the place that suits it best ("priority"). Each is true of this cycle:
/// all of its jobs were decided again with the change.
/// @param job      index into the cycle's jobs
/// @param is_over  asked before each of these decisions; once true, what was found so far is the answer.
std::vector<Counterfactual> joint_counterfactuals(const CycleReplay& replay, std::size_t job, std::string_view currency,
                                                  const std::function<bool()>& is_over);

} // namespace fathom
