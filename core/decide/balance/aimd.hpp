#pragma once

#include "core/decide/balance/action_plan.hpp"

namespace fathom {

/// Additive increase, multiplicative decrease: a rule without gains, to compare with and to fall back on. Compute-bound
/// units gain a sub-unit and 100 MHz; transfer-bound ones give up an eighth of both, at least one sub-unit and 100 MHz.
BalanceActions aimd_actions(double error, const UnitPosition& position);

} // namespace fathom
