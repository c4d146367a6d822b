#pragma once

#include <bit>
#include <cstdint>

namespace fathom::probes {

/// The upper half of a float: its sign, its exponent and seven bits of its fraction.
class Bf16 {
  public:
    Bf16() = default;

    /// Rounds to the nearest, ties to even. For finite values.
    constexpr explicit Bf16(float value)
    {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        bits_ = static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
    }
    constexpr explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16U); }
    constexpr explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }

  private:
    std::uint16_t bits_{};
};
static_assert(sizeof(Bf16) == 2);

} // namespace fathom::probes
