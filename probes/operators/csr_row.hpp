#pragma once

#include <array>
#include <cstdint>

namespace fathom::probes {

/// A sparse row times a vector: Σ values[e]·x[columns[e]] for e in begin..end-1, compressed sparse rows with
/// 32-bit indices. In four sums: with one, the latency of the additions and not the memory sets the speed.
inline double csr_row_product(const double* values, const std::int32_t* columns, std::int32_t begin, std::int32_t end,
                              const double* x)
{
    std::int32_t e = begin;
    std::array<double, 4> sums{};
    for (; e + 4 <= end; e += 4) {
        sums[0] += values[e] * x[columns[e]];
        sums[1] += values[e + 1] * x[columns[e + 1]];
        sums[2] += values[e + 2] * x[columns[e + 2]];
        sums[3] += values[e + 3] * x[columns[e + 3]];
    }
    for (; e < end; ++e)
        sums[0] += values[e] * x[columns[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

} // namespace fathom::probes
