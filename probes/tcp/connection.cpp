#include "probes/tcp/connection.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace fathom::probes {
namespace {

constexpr std::size_t kMaxAddresses = 8;
constexpr int kBacklog = 4096; ///< all of a team connect at once; the system may take fewer

struct AddressList {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

std::unique_ptr<addrinfo, AddressList> find_address(const TcpAddress& address)
{
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(address.port);
    const int failed = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found);
    return std::unique_ptr<addrinfo, AddressList>(failed == 0 ? found : nullptr);
}

Error no_address(const TcpAddress& address)
{
    return Error{Errc::kUnavailable, '"' + address.host + "\" is no address"};
}

std::optional<TcpAddress> address_of(const sockaddr* address, socklen_t size)
{
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return std::nullopt;
    const std::optional<std::uint16_t> number = parse_number<std::uint16_t>(port.data());
    return number ? std::optional<TcpAddress>({host.data(), *number}) : std::nullopt;
}

OpenFile open_socket(int family)
{
    return OpenFile(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Of an open connection. A host that vanishes without a word is noticed in minutes.
void set_options(int socket)
{
    const int on = 1;
    const int idle_s = 60;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

bool is_only_early()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// Waits until one of them is ready or has failed.
Result<void> wait_for_any(std::span<pollfd> waiting, Deadline deadline)
{
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        const auto limit = std::clamp<std::int64_t>(left.count(), 0, 3'600'000);
        const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(limit));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return tcp_error("cannot wait for a connection");
        if (left.count() <= 0) return Error{Errc::kUnavailable, "a process does not answer"};
    }
}

Result<void> wait_for(int socket, short events, Deadline deadline)
{
    std::array<pollfd, 1> one{{{socket, events, 0}}};
    return wait_for_any(one, deadline);
}

/// 169.254.0.0/16: of a link to a service processor on many hosts, the same on each.
constexpr bool is_link_local(std::uint32_t address)
{
    return address >> 16U == 0xa9feU;
}

/// Up, with an address that means the same on other hosts, and on the interface that was asked for.
bool is_wanted(const ifaddrs& one, std::string_view interface)
{
    if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return false;
    if (!interface.empty() ? one.ifa_name != interface : (one.ifa_flags & IFF_LOOPBACK) != 0) return false;
    if (one.ifa_addr->sa_family == AF_INET)
        return !is_link_local(ntohl(reinterpret_cast<const sockaddr_in*>(one.ifa_addr)->sin_addr.s_addr));
    if (one.ifa_addr->sa_family != AF_INET6) return false;
    const auto* const address = reinterpret_cast<const sockaddr_in6*>(one.ifa_addr);
    return !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
}

} // namespace

Error tcp_error(const std::string& what)
{
    return Error{Errc::kUnavailable, what + ": " + std::error_code(errno, std::generic_category()).message()};
}

std::string to_text(const std::vector<TcpAddress>& addresses)
{
    std::string text;
    for (const TcpAddress& one : addresses)
        text += (text.empty() ? "" : ",") + one.host + ' ' + std::to_string(one.port);
    return text;
}

std::vector<TcpAddress> parse_addresses(std::string_view text)
{
    std::vector<TcpAddress> addresses;
    for (const std::string_view one : split_text(text, ',')) {
        const std::size_t space = one.find(' ');
        if (space == std::string_view::npos || space == 0 || space > NI_MAXHOST) return {};
        const std::optional<std::uint16_t> port = parse_number<std::uint16_t>(one.substr(space + 1));
        if (!port || *port == 0 || addresses.size() == kMaxAddresses) return {};
        addresses.push_back({std::string(one.substr(0, space)), *port});
    }
    return addresses;
}

std::vector<std::string> own_addresses(std::string_view interface)
{
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(all, &::freeifaddrs);
    std::vector<std::string> hosts;
    for (const sa_family_t family : {sa_family_t{AF_INET}, sa_family_t{AF_INET6}}) {
        for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
            if (!is_wanted(*one, interface) || one->ifa_addr->sa_family != family) continue;
            const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
            const std::optional<TcpAddress> address = address_of(one->ifa_addr, size);
            if (address && hosts.size() < kMaxAddresses) hosts.push_back(address->host);
        }
    }
    return hosts;
}

Result<TcpListener> listen_at(const std::string& host)
{
    const TcpAddress wanted{host, 0};
    const auto found = find_address(wanted);
    if (found == nullptr) return no_address(wanted);
    OpenFile socket = open_socket(found->ai_family);
    if (socket.number() < 0 || ::bind(socket.number(), found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(socket.number(), kBacklog) != 0)
        return tcp_error("cannot listen at " + host);
    const Result<TcpAddress> address = own_end(socket.number());
    if (!address) return address.error();
    return TcpListener{std::move(socket), *address};
}

Result<OpenFile> connect_to(const TcpAddress& address, Deadline deadline)
{
    const auto found = find_address(address);
    if (found == nullptr) return no_address(address);
    const std::string what = "cannot connect to " + address.host + " port " + std::to_string(address.port);
    OpenFile socket = open_socket(found->ai_family);
    if (socket.number() < 0) return tcp_error(what);
    if (::connect(socket.number(), found->ai_addr, found->ai_addrlen) != 0) {
        if (errno != EINPROGRESS && errno != EINTR) return tcp_error(what);
        if (const Result<void> ready = wait_for(socket.number(), POLLOUT, deadline); !ready)
            return Error{Errc::kUnavailable, what + ": it does not answer"};
        socklen_t size = sizeof(errno);
        int cause = 0;
        ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &cause, &size);
        errno = cause;
        if (cause != 0) return tcp_error(what);
    }
    set_options(socket.number());
    return socket;
}

Result<OpenFile> accept_from(const std::vector<TcpListener>& listeners, Deadline deadline)
{
    std::vector<pollfd> waiting;
    for (const TcpListener& one : listeners)
        waiting.push_back({one.socket.number(), POLLIN, 0});
    while (true) {
        if (const Result<void> ready = wait_for_any(waiting, deadline); !ready) return ready.error();
        for (const pollfd& one : waiting) {
            if (one.revents == 0) continue;
            OpenFile socket(::accept4(one.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (socket.number() >= 0) {
                set_options(socket.number());
                return socket;
            }
            // Who has gone meanwhile is of no interest.
            if (!is_only_early() && errno != ECONNABORTED) return tcp_error("cannot accept a connection");
        }
    }
}

Result<TcpAddress> own_end(int socket)
{
    sockaddr_storage storage{};
    socklen_t size = sizeof(storage);
    auto* const address = reinterpret_cast<sockaddr*>(&storage);
    if (::getsockname(socket, address, &size) != 0) return tcp_error("cannot read a socket's address");
    const std::optional<TcpAddress> found = address_of(address, size);
    if (!found) return Error{Errc::kUnavailable, "a socket has an address of an unknown kind"};
    return *found;
}

Result<void> send_all(int socket, std::span<const std::byte> bytes, Deadline deadline)
{
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
            continue;
        }
        if (!is_only_early()) return tcp_error("cannot send to another process");
        if (const Result<void> ready = wait_for(socket, POLLOUT, deadline); !ready) return ready.error();
    }
    return {};
}

Result<void> receive_all(int socket, std::span<std::byte> bytes, Deadline deadline)
{
    while (!bytes.empty()) {
        const ssize_t size = ::recv(socket, bytes.data(), bytes.size(), 0);
        if (size > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(size));
            continue;
        }
        if (size == 0) return Error{Errc::kUnavailable, "another process has closed its connection"};
        if (!is_only_early()) return tcp_error("cannot receive from another process");
        if (const Result<void> ready = wait_for(socket, POLLIN, deadline); !ready) return ready.error();
    }
    return {};
}

} // namespace fathom::probes
