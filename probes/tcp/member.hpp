#pragma once

#include "probes/operators/exchange_command.hpp"
#include "probes/tcp/connection.hpp"

#include <array>
#include <sched.h>

/// A process of the team: it has a vector, a place in the ring, and a connection to the coordinator, who tells it what
/// to do. What follows on that connection after the handshake, in this order: Hello, Place, Answer; then a command
/// (ExchangeCommand) and an Answer each time.
namespace fathom::probes {

/// Where the coordinator is to be found, and what proves that it is meant.
struct Meeting {
    std::vector<TcpAddress> addresses; ///< tried in turn
    std::string secret;
};

/// What is added up.
struct TeamVector {
    std::size_t elements{};
    std::uint64_t seed{};
};

/// "10.1.0.7", or a host's identity; ends with a zero.
using ShortText = std::array<char, 64>;
ShortText to_short(std::string_view text);
/// Whatever came: at most 63 characters.
std::string to_text(const ShortText& text);

/// A member tells what it has.
struct Hello {
    cpu_set_t processors{}; ///< that it may use
    ShortText host{};       ///< the same for all processes of one host, and for those alone
    ShortText address{};    ///< where it listens for the one before it
    std::uint32_t port{};
};

/// Its place, when all are there.
struct Place {
    ShortText next_address{};
    std::uint32_t next_port{};
    std::uint32_t rank{};
    std::uint32_t size{};
    std::uint32_t host_rank{}; ///< among those of its host
    std::uint32_t host_size{};
};

struct Answer {
    double seconds{};                ///< of kRun
    double error{};                  ///< of kCheck
    std::array<char, 16> checksum{}; ///< of kCheck
};

/// Returns when the coordinator says so, or has gone.
/// Throws std::bad_alloc.
/// @error kUnavailable  it, or a neighbour, cannot be reached, has gone, or is silent
Result<void> serve_as_member(const Meeting& meeting, const TeamVector& vector);

} // namespace fathom::probes
