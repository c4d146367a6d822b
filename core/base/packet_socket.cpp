#include "core/base/packet_socket.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom {
namespace {

Error packet_failed(const char* what, int code)
{
    return {Errc::kUnavailable, std::string(what) + ": " + error_text(code)};
}

} // namespace

Result<PacketSockets> make_packet_sockets()
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return packet_failed("socketpair", errno);
    return PacketSockets{OpenFile(ends[0]), OpenFile(ends[1])};
}

Result<void> send_packet(int socket, const std::string& text, std::initializer_list<int> descriptors)
{
    if (text.size() > kMaxPacketBytes || descriptors.size() > kMaxPacketFiles)
        return Error{Errc::kTooLarge, "a packet to another process of ours is too long"};
    // sendmsg() only reads it.
    iovec part{const_cast<char*>(text.data()), text.size()}; // NOLINT(cppcoreguidelines-pro-type-const-cast)
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPacketFiles)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptors.size() != 0) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
        std::memcpy(CMSG_DATA(head), descriptors.begin(), sizeof(int) * descriptors.size());
    }
    ssize_t sent = 0;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return packet_failed("the process at the other end", errno);
    return {};
}

std::optional<Packet> receive_packet(int socket)
{
    Packet received;
    received.text.resize(kMaxPacketBytes);
    iovec part{received.text.data(), received.text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPacketFiles)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t size = 0;
    do
        size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    // Taken into our hands before anything is judged, so that they are closed.
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); size >= 0 && head != nullptr; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = 0; at + sizeof(int) <= head->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(head) + at, sizeof descriptor);
            received.files.emplace_back(descriptor);
        }
    }
    if (size <= 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
    received.text.resize(static_cast<std::size_t>(size));
    return received;
}

} // namespace fathom
