#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Number formats that a job may compute in, from coarse to fine: the ladder of spec 3, R6.
enum class Precision { kInt4, kInt8, kFp16, kFp32, kFp64 };
std::string_view to_string(Precision precision);
std::optional<Precision> parse_precision(std::string_view text);

/// Bits of a number.
int bits_of(Precision precision);

/// What the application allows.
struct PrecisionRange {
    Precision least = Precision::kInt4;
    Precision most = Precision::kFp64;

    bool operator==(const PrecisionRange&) const = default;
};

/// Reads `int8..fp32`, or `int8` for that one alone.
/// @error kInvalid  it is neither, or the first is finer than the second.
Result<PrecisionRange> parse_precision_range(std::string_view text);
std::string to_string(const PrecisionRange& range);

/// So many steps finer (coarser when negative), as far as the range goes. A precision outside the range first comes to
/// its nearer end.
Precision step_precision(Precision present, int steps, const PrecisionRange& range);

} // namespace fathom
