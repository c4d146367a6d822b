#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fathom::probes {

/// What results are compared by where digests flip: single precision differs in its last digits with the order of
/// summation, and of a million rounded values some then lie on the other side of a border.
///
/// The root mean square of the values, then four sums of all values with signs + or − drawn from `seed`, each divided
/// by the values' length (root of the sum of squares). Rounding errors move them by about their own relative size; a
/// result that was not computed is nowhere near. Signs come from the seed, so nothing can be prepared beforehand: to
/// know the sums takes the values, or as much work.
/// Empty when there are no values or one is not finite.
std::vector<double> project(std::span<const double> values, std::uint64_t seed);

} // namespace fathom::probes
