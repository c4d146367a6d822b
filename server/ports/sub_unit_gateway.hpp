#pragma once

#include "server/ports/attempt_gateway.hpp"

#include <vector>

namespace fathom::server {

/// What an agent's session needs from the room of sub-units. Every call is idempotent, and changes nothing for a
/// session that was superseded or revoked (kUnavailable).
class SubUnitGateway {
  public:
    virtual ~SubUnitGateway() = default;

    /// What the center has; a target that it has reached, or refuses.
    virtual asio::awaitable<Result<void>> take_state(Reporter reporter, link::SubUnitState state) = 0;
    /// The center asks to give up or to gain, instead of what it has asked for before. `message` is the request's id.
    /// @error kConflict    it is giving some up already, somebody else's request is open, or it has too few.
    /// @error kInvalid     it has not said that it has sub-units of that kind.
    /// @error kInfeasible  its machines could not have so many.
    /// @error kTooMany     it asks too often; what it asked for before stands.
    virtual asio::awaitable<Result<void>> take_request(Reporter reporter, MessageId message,
                                                       link::SubUnitRequest request) = 0;
    /// What the center is to have, of each kind that it has said to have, and whether the last request of its agent
    /// was refused.
    virtual asio::awaitable<Result<std::vector<link::SubUnitTarget>>> targets(Reporter reporter) = 0;
};

} // namespace fathom::server
