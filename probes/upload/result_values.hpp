#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fathom::probes {

/// What a result of an uploaded operator consists of, as in fathom_operator.h.
enum class ResultKind : std::uint32_t { kDoubles = 1, kFloats = 2, kBytes = 3 };

std::size_t element_bytes(ResultKind kind);

/// A result as bytes: looked at, spoiled and compared from outside, element by element. Holds no memory.
class ResultValues {
  public:
    ResultValues(ResultKind kind, std::span<std::byte> bytes) : kind_(kind), bytes_(bytes) {}

    std::size_t count() const { return bytes_.size() / element_bytes(kind_); }

    /// As numbers; empty for a result of bytes.
    std::vector<double> numbers() const;

    /// Digest of all elements, 16 hex digits: numbers are rounded first (checksum.hpp), relative to a power of two
    /// near their root mean square, so that rounding errors do not show.
    std::string checksum() const;

    /// Overwrites everything with what no computation leaves: NaN; bytes with 0xA5.
    void fill_with_nonsense();
    /// How many elements still are nonsense; always 0 for bytes, which may have any value.
    std::size_t nonsense_left() const;

    /// Makes one element wrong by far more than a relative error of `tolerance` of the whole result.
    void spoil(std::size_t index, double tolerance);

    /// Whether two results of the same kind and size are the same: every element, or numbers within a relative
    /// difference of `tolerance` in the Euclidean norm.
    static bool are_same(const ResultValues& a, const ResultValues& b, double tolerance);

  private:
    double number(std::size_t index) const;
    void set_number(std::size_t index, double value);

    ResultKind kind_;
    std::span<std::byte> bytes_;
};

} // namespace fathom::probes
