#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fathom::probes {

/// Digest of all values, 16 hex digits, in order.
///
/// Every value is first rounded to a multiple of `scale`·2^-14 (`scale`: the typical size of a value,
/// > 0): rounding errors, which differ with the number of threads or with the plan that FFTW found,
/// do not show then, while any difference that matters does. A value that lies on the border between
/// two multiples may still flip; with 1e-16 of error and a million values that is one run in 10^5.
std::string rounded_checksum(std::span<const double> values, double scale);

/// As above, for single precision: rounded to `scale`·2^-6.
std::string rounded_checksum(std::span<const float> values, double scale);

/// Digest of every bit, for results that are exact.
std::string exact_checksum(std::span<const std::byte> bytes);

} // namespace fathom::probes
