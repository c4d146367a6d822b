#pragma once

#include "probes/tcp/connection.hpp"

/// Both ends of a new connection prove to each other that they have the secret of this measurement, which is random and
/// used once. The secret itself is never sent, and an old proof proves nothing, for each side adds a random number.
/// What is sent afterwards is neither hidden nor protected: numbers without worth, whose sum is checked.
namespace fathom::probes {

/// Of who has no place in the ring yet.
inline constexpr std::uint32_t kNoRank = 0xffffffffU;

/// The side that has connected.
/// @param rank          what it says of itself, which is proved with the rest
/// @error kUnavailable  the other side does not have the secret, is silent, or has gone
Result<void> introduce(int socket, std::string_view secret, std::uint32_t rank, Deadline deadline);

/// The side that was connected to.
/// @return the other's rank
/// @error kUnavailable  as introduce()
Result<std::uint32_t> admit(int socket, std::string_view secret, Deadline deadline);

/// Accepts connections until one is admitted whose rank is `rank`; strangers get some seconds each, and are left. Who
/// has connected by `deadline` gets them after it, too.
/// @error kUnavailable  none had connected by `deadline`
Result<OpenFile> accept_member(const std::vector<TcpListener>& listeners, std::string_view secret, std::uint32_t rank,
                               Deadline deadline);

} // namespace fathom::probes
