#pragma once

#include <string>
#include <string_view>

namespace fathom::net {

/// The IPv4 address or IPv6 /64 network of "127.0.0.1:51234" or "[2001:db8::1]:443": one customer's line
/// has a whole /64, so a limit per address would be none.
std::string network_of(std::string_view remote_address);

} // namespace fathom::net
