#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// TCP with an end to each wait. Sockets here do not block, and send small messages at once.
/// Every function's @error is kUnavailable: the system or the other side refuses, or it took longer than `deadline`.
namespace fathom::probes {

using Deadline = std::chrono::steady_clock::time_point;

struct TcpAddress {
    std::string host; ///< numerical: "10.1.0.7" or "fd00::7"
    std::uint16_t port{};
};

/// "10.1.0.7 4711,fd00::7 4712" and back. Of a text that is none of this the list is empty.
std::string to_text(const std::vector<TcpAddress>& addresses);
std::vector<TcpAddress> parse_addresses(std::string_view text);

/// Where other hosts may reach this one, IPv4 first; at most 8.
/// @param interface  the only one that counts ("ib0", "lo"); empty: all but the loopback and links without addresses of
///                   their own
std::vector<std::string> own_addresses(std::string_view interface);

/// A socket that listens on a port which the system has chosen, on that one address.
struct TcpListener {
    OpenFile socket;
    TcpAddress address;
};
Result<TcpListener> listen_at(const std::string& host);

Result<OpenFile> connect_to(const TcpAddress& address, Deadline deadline);
Result<OpenFile> accept_from(const std::vector<TcpListener>& listeners, Deadline deadline);

/// This side's address of a connection.
Result<TcpAddress> own_end(int socket);

Result<void> send_all(int socket, std::span<const std::byte> bytes, Deadline deadline);
Result<void> receive_all(int socket, std::span<std::byte> bytes, Deadline deadline);

/// A plain struct as it lies in memory: both sides are this program.
template <class Message>
Result<void> send_message(int socket, const Message& message, Deadline deadline)
{
    return send_all(socket, std::as_bytes(std::span(&message, 1)), deadline);
}
template <class Message>
Result<Message> receive_message(int socket, Deadline deadline)
{
    Message message{};
    if (const Result<void> got = receive_all(socket, std::as_writable_bytes(std::span(&message, 1)), deadline); !got)
        return got.error();
    return message;
}

/// "what: the system's words for errno".
Error tcp_error(const std::string& what);

} // namespace fathom::probes
