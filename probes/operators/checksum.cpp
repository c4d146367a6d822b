#include "probes/operators/checksum.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace fathom::probes {
namespace {

constexpr std::size_t kLanes = 4; ///< independent chains: the multiplication's latency is hidden

template <class T>
std::string checksum(std::span<const T> values, double quantum)
{
    // Adding 1.5·2^52 leaves the value rounded to a whole number in the low bits of the sum: much
    // faster than llround. Larger or non-finite values keep bits that still depend on the value.
    constexpr double kRound = 0x1.8p52;
    std::array<std::uint64_t, kLanes> hash{1, 2, 3, 4};
    const double factor = 1 / quantum;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(values[i]) * factor + kRound);
        std::uint64_t& lane = hash[i % kLanes];
        lane = (lane ^ bits) * 0x9e3779b97f4a7c15U;
        lane ^= lane >> 32U;
    }
    std::uint64_t digest = values.size();
    for (const std::uint64_t lane : hash) {
        digest = (digest ^ lane) * 0xbf58476d1ce4e5b9U;
        digest ^= digest >> 29U;
    }
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
    return text.data();
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

} // namespace fathom::probes
