#pragma once

#include <algorithm>
#include <cstddef>

/// Where the entries of the 27-point stencil's matrix lie (stencil_matrix.hpp). Any row can be found without
/// those before it, by any thread, on a device too.
namespace fathom::probes {

/// Its diagonal; every neighbour counts −1, and there are at most 26.
constexpr double kStencilDiagonal = 28;

/// How many of the positions i−1, i, i+1 lie on an edge of n points.
constexpr std::size_t stencil_reach(std::size_t i, std::size_t n)
{
    return std::min(i + 1, n - 1) - (i > 0 ? i - 1 : 0) + 1;
}

/// Σ stencil_reach(j, n) for j < i: the points seen from the first i.
constexpr std::size_t stencil_reach_before(std::size_t i, std::size_t n)
{
    if (i == 0) return 0;
    if (n == 1) return i;
    return 3 * i - 1 - (i == n ? 1 : 0);
}

/// Entries of the whole matrix on a grid of edge n.
constexpr std::size_t stencil_entries(std::size_t n)
{
    const std::size_t all = stencil_reach_before(n, n);
    return all * all * all;
}

/// Entries of all rows before this one; `row` may be n³.
constexpr std::size_t stencil_first_entry(std::size_t row, std::size_t n)
{
    const std::size_t z = row / (n * n);
    const std::size_t y = row / n % n;
    const std::size_t x = row % n;
    const std::size_t all = stencil_reach_before(n, n);
    if (z == n) return all * all * all;
    // Whole planes, then lines of this plane, then points of this line.
    return stencil_reach_before(z, n) * all * all + stencil_reach(z, n) * stencil_reach_before(y, n) * all +
           stencil_reach(z, n) * stencil_reach(y, n) * stencil_reach_before(x, n);
}

/// Calls visit(column) for every entry of the row, columns ascending.
template <class Visit>
constexpr void for_stencil_columns(std::size_t row, std::size_t n, const Visit& visit)
{
    const std::size_t z = row / (n * n);
    const std::size_t y = row / n % n;
    const std::size_t x = row % n;
    for (std::size_t c = z - (z > 0 ? 1 : 0); c <= std::min(z + 1, n - 1); ++c) {
        for (std::size_t b = y - (y > 0 ? 1 : 0); b <= std::min(y + 1, n - 1); ++b) {
            for (std::size_t a = x - (x > 0 ? 1 : 0); a <= std::min(x + 1, n - 1); ++a)
                visit((c * n + b) * n + a);
        }
    }
}

} // namespace fathom::probes
