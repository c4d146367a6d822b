#include "core/decide/balance/aimd.hpp"

#include "core/decide/balance/action_plan.hpp"
#include "core/decide/balance/action_table.hpp"

#include <algorithm>
#include <cstdint>

namespace fathom {
namespace {

constexpr std::int64_t kIncreaseSubUnits = 1;
constexpr std::int64_t kIncreaseMhz = 100;
constexpr std::int64_t kDecreaseDivisor = 8;

} // namespace

BalanceActions aimd_actions(double error, const UnitPosition& position)
{
    if (error < 0) return {.sub_units = kIncreaseSubUnits, .clock_mhz = kIncreaseMhz, .precision_steps = 0};
    BalanceActions actions;
    if (position.sub_units)
        actions.sub_units = -std::max(kIncreaseSubUnits, position.sub_units->count / kDecreaseDivisor);
    if (position.clock) actions.clock_mhz = -std::max(kIncreaseMhz, position.clock->mhz / kDecreaseDivisor);
    return actions;
}

} // namespace fathom
