#include "probes/operators/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace fathom::probes {
namespace {

constexpr std::size_t kLanes = 4; ///< independent chains: the multiplication's latency is hidden

/// Takes 64-bit words in order.
class Digest {
  public:
    void add(std::uint64_t word)
    {
        std::uint64_t& lane = hash_[count_++ % kLanes];
        lane = (lane ^ word) * 0x9e3779b97f4a7c15U;
        lane ^= lane >> 32U;
    }

    std::string text(std::size_t size) const
    {
        std::uint64_t digest = size;
        for (const std::uint64_t lane : hash_) {
            digest = (digest ^ lane) * 0xbf58476d1ce4e5b9U;
            digest ^= digest >> 29U;
        }
        std::array<char, 17> text{};
        std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
        return text.data();
    }

  private:
    std::array<std::uint64_t, kLanes> hash_{1, 2, 3, 4};
    std::size_t count_{};
};

template <class T>
std::string checksum(std::span<const T> values, double quantum)
{
    // Adding 1.5·2^52 leaves the value rounded to a whole number in the low bits of the sum: much
    // faster than llround. Larger or non-finite values keep bits that still depend on the value.
    constexpr double kRound = 0x1.8p52;
    Digest digest;
    const double factor = 1 / quantum;
    for (const T value : values)
        digest.add(std::bit_cast<std::uint64_t>(static_cast<double>(value) * factor + kRound));
    return digest.text(values.size());
}

} // namespace

std::string rounded_checksum(std::span<const double> values, double scale)
{
    return checksum(values, scale * 0x1p-14);
}

std::string rounded_checksum(std::span<const float> values, double scale)
{
    return checksum(values, scale * 0x1p-6);
}

std::string exact_checksum(std::span<const std::byte> bytes)
{
    Digest digest;
    for (std::size_t begin = 0; begin < bytes.size(); begin += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + begin, std::min(sizeof(word), bytes.size() - begin));
        digest.add(word);
    }
    return digest.text(bytes.size());
}

} // namespace fathom::probes
