#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom::net {

/// What a header may have in all, addresses and extensions together. The format allows 64 KiB, in use are some hundred
/// bytes.
inline constexpr std::size_t kMaxProxyHeaderBytes = 2048;

/// What the start of a connection says about who is behind the proxy that made it.
struct ProxyHeader {
    enum class State { kIncomplete, kComplete, kRefused };
    State state = State::kRefused;
    /// While incomplete: so many more bytes belong to the header for sure, at least 1. What comes after the header is
    /// not the proxy's, so nobody may read further.
    std::size_t needed = 0;
    /// Of the client, as "192.0.2.7:51234" or "[2001:db8::1]:51234". Empty when the proxy speaks for itself (a check of
    /// health) or knows no address.
    std::string client_address = {};
};

/// Reads a header of the PROXY protocol, version 1 or 2 (haproxy.org, "The PROXY protocol"), over TCP. Extensions of
/// version 2 are passed over.
/// @param received  the connection's first bytes; none after the header.
ProxyHeader read_proxy_header(std::string_view received);

} // namespace fathom::net
