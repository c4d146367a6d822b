#pragma once

#include "agent/gpu/protocol.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::gpu {

/// A connection to the memory manager. The program may close any descriptor, and get its number again for a file of its
/// own: so each function looks first whether the descriptor still is this socket, and leaves another file alone.
struct ManagerSocket {
    int descriptor = -1;    ///< -1: there is none
    std::uint64_t number{}; ///< of this process's connections, from 1: each has another; 0: there is none
    std::uint64_t inode{};  ///< of the socket

    bool is_open() const { return descriptor >= 0; }
};

/// Does not wait.
/// @param number  of the connection.
/// @return        nothing where nobody listens there, or where as many wait to be heard as may.
std::optional<ManagerSocket> connect_to_manager(const std::string& path, std::uint64_t number);

/// Whether the descriptor still is that socket.
bool is_own(const ManagerSocket& socket);

enum class Sending {
    kSent,
    kFull,   ///< the manager has not read what was sent before
    kBroken, ///< whoever reads from the connection finds that, too
};

/// Does not wait.
Sending send_at_once(const ManagerSocket& socket, const Message& message);

/// Waits for the next message.
/// @return  nothing where the connection has ended, or is no connection to a manager of this protocol.
std::optional<Message> next_message(const ManagerSocket& socket);

/// Whether others still wait for this process's turn, which the manager has asked for, as far as unread messages say:
/// the last that tells of others counts, and without one what the manager said before. False where the connection has
/// ended or cannot be looked at: then nobody is known to wait. Reads nothing, and does not wait.
bool do_others_wait(const ManagerSocket& socket);

/// Whoever reads from it finds its end.
void shut_down(const ManagerSocket& socket);
void close_socket(const ManagerSocket& socket);

} // namespace fathom::gpu
