#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

// Packets between two processes of ours: texts, with open files where wanted, over a pair of local sockets
// (SOCK_SEQPACKET), which keep packets apart and tell each end when the other one is gone.

/// Longest text of a packet.
inline constexpr std::size_t kMaxPacketBytes = 64UL << 10U;
/// Most open files of a packet.
inline constexpr std::size_t kMaxPacketFiles = 2;

struct PacketSockets {
    OpenFile first;
    OpenFile second;
};

/// @error kUnavailable  too many files are open.
Result<PacketSockets> make_packet_sockets();

/// Sends one packet whole, with descriptors, at most kMaxPacketFiles, which stay open here. Blocks while the other end
/// does not read, up to the socket's SO_SNDTIMEO.
/// @error kUnavailable  the other end is gone, or did not read in time.
/// @error kTooLarge     the text is longer than kMaxPacketBytes.
Result<void> send_packet(int socket, const std::string& text, std::initializer_list<int> descriptors = {});

struct Packet {
    std::string text;
    std::vector<OpenFile> files;
};

/// The next packet; none when the other end is gone, or sent what is no packet. Blocks.
std::optional<Packet> receive_packet(int socket);

} // namespace fathom
