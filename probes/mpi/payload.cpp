#include "probes/mpi/payload.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <cstring>

namespace fathom::probes {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr int kSpoiled = 0xff;

/// Another sequence for each way.
std::uint64_t seed_of(std::uint64_t seed, MessageWay way)
{
    return random_bits(random_bits(seed, way.from), way.to);
}

/// Calls `on_word` with each word of the message: its place, its size in bytes, which is less at the end, and the word.
void each_word(std::size_t size, std::uint64_t seed, auto on_word)
{
    for (std::size_t begin = 0; begin < size; begin += kWord)
        on_word(begin, std::min(kWord, size - begin), random_bits(seed, begin / kWord));
}

} // namespace

void fill_message(std::span<std::byte> message, std::uint64_t seed, MessageWay way)
{
    each_word(message.size(), seed_of(seed, way), [&](std::size_t begin, std::size_t size, std::uint64_t word) {
        std::memcpy(message.data() + begin, &word, size);
    });
}

std::size_t wrong_bytes(std::span<const std::byte> received, std::uint64_t seed, MessageWay way)
{
    std::size_t wrong = 0;
    each_word(received.size(), seed_of(seed, way), [&](std::size_t begin, std::size_t size, std::uint64_t word) {
        if (std::memcmp(received.data() + begin, &word, size) == 0) return;
        const auto* const right = reinterpret_cast<const std::byte*>(&word);
        for (std::size_t i = 0; i < size; ++i)
            wrong += received[begin + i] != right[i] ? 1 : 0;
    });
    return wrong;
}

void spoil(std::span<std::byte> memory)
{
    if (!memory.empty()) std::memset(memory.data(), kSpoiled, memory.size());
}

} // namespace fathom::probes
