#pragma once

#include "agent/balance/trace_reader.hpp"
#include "core/model/balance_step.hpp"

namespace fathom::agent {

/// A step as the metascheduler is told it, from its line in the trace. Texts that are too long are cut.
/// @error kInvalid  it is no step.
Result<BalanceStep> to_balance_step(const Json& line);

/// What the loops' process has done, for the process that speaks to the metascheduler: new steps from the trace, of the
/// past only the last ones. Not thread-safe; blocks for milliseconds.
class BalanceFeed {
  public:
    /// @param folder  the agent's; its files are `owner`'s.
    BalanceFeed(OpenFile folder, uid_t owner) : reader_(std::move(folder), owner, kMaxPastBytes) {}

    /// Since the last call, the oldest first. A trace that cannot be read gives none; the log says so once.
    std::vector<BalanceStep> next();

  private:
    static constexpr std::int64_t kMaxPastBytes = 256LL << 10U; ///< some hundred steps

    TraceReader reader_;
    bool has_failed_ = false;
};

} // namespace fathom::agent
