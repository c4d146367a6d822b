#pragma once

// Internal to core/net: a client's way to an open TLS stream.

#include "core/net/client.hpp"
#include "core/net/stream.hpp"

#include <boost/asio/steady_timer.hpp>

namespace fathom::net {

/// Resolves, connects and shakes hands, with SNI and a check of the server's name. Await it on a
/// strand (or a single-threaded context): it is the stream's executor.
/// @error kUnavailable  unknown host, refused, not trusted; the detail says which.
/// @error kDeadline     not done within the options' connect_time and queue_time.
asio::awaitable<Result<std::unique_ptr<TlsStream>>> connect_tls(Endpoint endpoint, TlsContext tls,
                                                                ClientOptions options);

/// "host:port", "[::1]:port".
std::string to_string(const Endpoint& endpoint);

/// The Host header: the port only when it is not 443.
std::string host_header(const Endpoint& endpoint);

} // namespace fathom::net
