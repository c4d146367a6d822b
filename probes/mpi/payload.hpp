#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// What the processes of an MPI operator send each other: bytes that everyone can compute, so that whoever receives
/// them can check each. Needs no MPI.
namespace fathom::probes {

/// Who sent a message to whom. In exchanges of two these are their sides, 0 and 1, not their ranks.
struct MessageWay {
    std::uint64_t from{};
    std::uint64_t to{};
};

/// The message of that way and seed, of whatever length: a shorter one is the beginning of a longer one.
void fill_message(std::span<std::byte> message, std::uint64_t seed, MessageWay way);

/// How many bytes of what was received differ from the message; 0 of one that has arrived whole.
std::size_t wrong_bytes(std::span<const std::byte> received, std::uint64_t seed, MessageWay way);

/// Overwrites what is to be received, so that nothing of an earlier message passes for it.
void spoil(std::span<std::byte> memory);

} // namespace fathom::probes
