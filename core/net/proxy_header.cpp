#include "core/net/proxy_header.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <optional>

namespace fathom::net {
namespace {

constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12); // of version 2
constexpr std::size_t kFixedBytes = 16;                            // of version 2, before the addresses
constexpr std::string_view kWord = "PROXY ";                       // begins version 1
constexpr std::size_t kMinLineLength = 15;                         // "PROXY UNKNOWN\r\n"
constexpr std::size_t kMaxLineLength = 107;

ProxyHeader refused()
{
    return {};
}

ProxyHeader incomplete(std::size_t needed)
{
    return {.state = ProxyHeader::State::kIncomplete, .needed = needed};
}

ProxyHeader complete(std::string client_address)
{
    return {.state = ProxyHeader::State::kComplete, .client_address = std::move(client_address)};
}

bool can_become(std::string_view received, std::string_view start)
{
    const std::size_t size = std::min(received.size(), start.size());
    return received.substr(0, size) == start.substr(0, size);
}

unsigned number_at(std::string_view bytes, std::size_t at)
{
    const auto high = static_cast<unsigned char>(bytes[at]);
    const auto low = static_cast<unsigned char>(bytes[at + 1]);
    return (static_cast<unsigned>(high) << 8U) | low;
}

/// @param address  in network order, 4 bytes (AF_INET) or 16 (AF_INET6).
std::string written(int family, const void* address, unsigned port)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
    const std::string host(text.data());
    return (family == AF_INET6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// @param addresses  of client and server, their ports, extensions.
ProxyHeader read_addresses(unsigned family_and_protocol, std::string_view addresses)
{
    constexpr unsigned kUnspecified = 0x00;
    constexpr unsigned kTcp4 = 0x11;
    constexpr unsigned kTcp6 = 0x21;
    if (family_and_protocol == kUnspecified) return complete("");
    if (family_and_protocol == kTcp4 && addresses.size() >= 12)
        return complete(written(AF_INET, addresses.data(), number_at(addresses, 8)));
    if (family_and_protocol == kTcp6 && addresses.size() >= 36)
        return complete(written(AF_INET6, addresses.data(), number_at(addresses, 32)));
    return refused();
}

ProxyHeader read_version_2(std::string_view received)
{
    constexpr unsigned kLocal = 0x20;
    constexpr unsigned kProxy = 0x21;
    if (received.size() < kFixedBytes) return incomplete(kFixedBytes - received.size());
    const unsigned version_and_command = static_cast<unsigned char>(received[12]);
    const unsigned family_and_protocol = static_cast<unsigned char>(received[13]);
    const std::size_t whole = kFixedBytes + number_at(received, 14);
    if (version_and_command != kLocal && version_and_command != kProxy) return refused();
    if (whole > kMaxProxyHeaderBytes || received.size() > whole) return refused();
    if (received.size() < whole) return incomplete(whole - received.size());
    if (version_and_command == kLocal) return complete("");
    return read_addresses(family_and_protocol, received.substr(kFixedBytes));
}

/// Takes the text up to the next space off the line; all of it when there is none.
std::string_view take_word(std::string_view& line)
{
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    return word;
}

std::optional<unsigned> read_port(std::string_view text)
{
    constexpr unsigned kMaxPort = 65535;
    const auto port = parse_number<unsigned>(text);
    return port && *port <= kMaxPort && std::to_string(*port) == text ? port : std::nullopt;
}

/// @param line  "TCP4 192.0.2.7 192.0.2.1 51234 8443": family, client, server, their ports.
ProxyHeader read_line(std::string_view line)
{
    const std::string_view kind = take_word(line);
    if (kind == "UNKNOWN") return complete("");
    if (kind != "TCP4" && kind != "TCP6") return refused();
    const int family = kind == "TCP4" ? AF_INET : AF_INET6;
    const std::string client(take_word(line));
    const std::string server(take_word(line));
    const std::optional<unsigned> client_port = read_port(take_word(line));
    const std::optional<unsigned> server_port = read_port(line); // the last word: a further one is wrong
    if (client.find('\0') != std::string::npos || server.find('\0') != std::string::npos) return refused();
    in6_addr client_bytes{};
    in6_addr server_bytes{};
    if (inet_pton(family, client.c_str(), &client_bytes) != 1) return refused();
    if (inet_pton(family, server.c_str(), &server_bytes) != 1) return refused();
    if (!client_port || !server_port) return refused();
    return complete(written(family, &client_bytes, *client_port));
}

ProxyHeader read_version_1(std::string_view received)
{
    const std::size_t end = received.find("\r\n");
    if (end == std::string_view::npos) {
        const std::size_t needed = received.ends_with('\r') ? 1 : 2;
        if (received.size() + needed > kMaxLineLength) return refused();
        return incomplete(std::max(needed, kMinLineLength - std::min(received.size(), kMinLineLength)));
    }
    if (end + 2 > kMaxLineLength || end + 2 != received.size()) return refused();
    return read_line(received.substr(kWord.size(), end - kWord.size()));
}

} // namespace

ProxyHeader read_proxy_header(std::string_view received)
{
    if (received.empty()) return incomplete(kMinLineLength);
    if (can_become(received, kSignature)) return read_version_2(received);
    if (can_become(received, kWord)) return read_version_1(received);
    return refused();
}

} // namespace fathom::net
