#include "core/net/network.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <iterator>

namespace fathom::net {

std::string network_of(std::string_view remote_address)
{
    std::string host(remote_address.substr(0, remote_address.rfind(':')));
    if (host.size() < 2 || host.front() != '[') return host;
    host = host.substr(1, host.size() - 2);
    in6_addr address{};
    if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return host;
    char text[INET6_ADDRSTRLEN];
    if (IN6_IS_ADDR_V4MAPPED(&address)) // as a listener on "::" sees them
        return inet_ntop(AF_INET, address.s6_addr + 12, text, sizeof text) == nullptr ? host : text;
    std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
    return inet_ntop(AF_INET6, &address, text, sizeof text) == nullptr ? host : std::string(text) + "/64";
}

} // namespace fathom::net
