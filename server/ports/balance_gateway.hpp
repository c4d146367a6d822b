#pragma once

#include "server/ports/attempt_gateway.hpp"

namespace fathom::server {

/// What an agent's session needs from the room that keeps what balance loops did.
class BalanceGateway {
  public:
    virtual ~BalanceGateway() = default;

    /// Keeps the steps; those that are kept already change nothing.
    /// @error kUnavailable  the session was superseded or revoked.
    /// @error kInvalid      a text holds a NUL character.
    virtual asio::awaitable<Result<void>> take_steps(Reporter reporter, BalanceSteps steps) = 0;
};

} // namespace fathom::server
