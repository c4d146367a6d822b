#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/balance/action_plan.hpp"

namespace fathom::agent {

/// What of a unit the loop can change. Not thread-safe; functions may block for milliseconds.
class Actuator {
  public:
    virtual ~Actuator() = default;

    virtual ActuatorKind kind() const = 0;

    /// Writes where it stands and how far it goes into its part of the position.
    /// @error kUnavailable  it is not there; the detail begins with "absent".
    /// @error kConflict     it is there and cannot be used now.
    virtual Result<void> look(UnitPosition& position) = 0;

    /// How it stands, so that put_back() can bring it there again after this process has gone. After look().
    virtual Json undo() const = 0;

    /// put_back() has brought it to where it stood.
    virtual void was_put_back() {}

    /// Changes its part.
    /// @param wanted_sub_units  R8's count, where there is one.
    /// @error kForbidden    the driver or the system refused.
    /// @error kUnavailable  it failed.
    virtual Result<void> act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units) = 0;
};

} // namespace fathom::agent
