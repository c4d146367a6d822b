#pragma once

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

/// How sizes of one operator are compared.
namespace fathom {

/// The work of one execution: operations, or bytes for operators without any; at least 1.
inline double size_work(double operations, double bytes)
{
    return operations > 0 ? operations : std::max(bytes, 1.0);
}

/// The shape of a size, as ln(operations / bytes): a thin and a square matrix product of equal work differ in it. 0
/// where one of them is missing.
inline double size_log_intensity(double operations, double bytes)
{
    return operations > 0 && bytes > 0 ? portable::log(operations / bytes) : 0;
}

} // namespace fathom
