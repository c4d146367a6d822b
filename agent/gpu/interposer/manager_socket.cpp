#include "agent/gpu/interposer/manager_socket.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace fathom::gpu {
namespace {

/// Nobody wakes a thread that reads from a socket whose descriptor the program has closed: it looks itself.
constexpr timeval kLookEvery{.tv_sec = 2, .tv_usec = 0};

bool is_whole(ssize_t bytes, const Message& message)
{
    return bytes == static_cast<ssize_t>(sizeof(message)) && message.version == kProtocolVersion;
}

std::optional<std::uint64_t> inode_of(int descriptor)
{
    struct stat file{};
    if (::fstat(descriptor, &file) != 0 || !S_ISSOCK(file.st_mode)) return std::nullopt;
    return file.st_ino;
}

} // namespace

std::optional<ManagerSocket> connect_to_manager(const std::string& path, std::uint64_t number)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
    path.copy(address.sun_path, path.size());
    const int made = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return std::nullopt;
    const std::optional<std::uint64_t> inode = inode_of(made);
    // Only who reads waits from here on.
    if (!inode || ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::fcntl(made, F_SETFL, 0) != 0 ||
        ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &kLookEvery, sizeof(kLookEvery)) != 0) {
        ::close(made);
        return std::nullopt;
    }
    return ManagerSocket{made, number, *inode};
}

bool is_own(const ManagerSocket& socket)
{
    return socket.is_open() && inode_of(socket.descriptor) == socket.inode;
}

Sending send_at_once(const ManagerSocket& socket, const Message& message)
{
    if (!is_own(socket)) return Sending::kBroken;
    ssize_t sent = 0;
    do {
        sent = ::send(socket.descriptor, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent == static_cast<ssize_t>(sizeof(message))) return Sending::kSent;
    return sent < 0 && (errno == EAGAIN || errno == ENOBUFS) ? Sending::kFull : Sending::kBroken;
}

std::optional<Message> next_message(const ManagerSocket& socket)
{
    while (is_own(socket)) {
        Message message;
        const ssize_t got = ::recv(socket.descriptor, &message, sizeof(message), 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (!is_whole(got, message)) return std::nullopt;
        return message;
    }
    return std::nullopt;
}

bool do_others_wait(const ManagerSocket& socket)
{
    // Each look begins behind the one before.
    const int beginning = 0;
    if (!is_own(socket) || ::setsockopt(socket.descriptor, SOL_SOCKET, SO_PEEK_OFF, &beginning, sizeof(beginning)) != 0)
        return false;
    bool is_waiting = true;
    while (true) {
        Message next;
        const ssize_t got = ::recv(socket.descriptor, &next, sizeof(next), MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) break;
        if (!is_whole(got, next)) {
            is_waiting = false;
            break;
        }
        if (next.type == MessageType::kShared) is_waiting = next.first != 0;
    }
    const int nowhere = -1;
    (void)::setsockopt(socket.descriptor, SOL_SOCKET, SO_PEEK_OFF, &nowhere, sizeof(nowhere));
    return is_waiting;
}

void shut_down(const ManagerSocket& socket)
{
    if (is_own(socket)) (void)::shutdown(socket.descriptor, SHUT_RDWR);
}

void close_socket(const ManagerSocket& socket)
{
    if (is_own(socket)) (void)::close(socket.descriptor);
}

} // namespace fathom::gpu
