#pragma once

#include "core/base/result.hpp"

#include <cstdint>

namespace fathom {

/// How busy the two sides of a center's units are, each 0..1 of what the hardware could do.
struct UnitLoads {
    double transfer{}; ///< P_p: bytes moved / (link bandwidth × period)
    double compute{};  ///< P_d: operations done / (peak rate × period)
};

/// R8: how many sub-units a center wants where one of the two sides is saturated, so that both are equally busy:
/// count × P_d / P_p, rounded down. Fewer than `count`: the rest is to be given up; more: they are to be gained.
/// @error kInvalid  a count below 0 or above 1 000 000, a load outside 0..1 or not a number, no transfer at all, or a
///                  result above 1 000 000.
Result<std::int64_t> wanted_count(std::int64_t count, const UnitLoads& loads);

} // namespace fathom
