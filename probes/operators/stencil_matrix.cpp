#include "probes/operators/stencil_matrix.hpp"

#include <algorithm>
#include <array>

namespace fathom::probes {
namespace {

/// How many of the positions i−1, i, i+1 lie on an edge of n points.
std::size_t reach(std::size_t i, std::size_t n)
{
    return std::min(i + 1, n - 1) - (i > 0 ? i - 1 : 0) + 1;
}

/// Σ reach(j, n) for j < i: the points seen from the first i.
std::size_t reach_before(std::size_t i, std::size_t n)
{
    if (i == 0) return 0;
    if (n == 1) return i;
    return 3 * i - 1 - (i == n ? 1 : 0);
}

} // namespace

StencilMatrix::StencilMatrix(std::size_t edge) : edge_(edge)
{
    const std::size_t rows = edge * edge * edge;
    const std::size_t all = reach_before(edge, edge);
    row_begin_ = Buffer<std::int32_t>(rows + 1);
    columns_ = Buffer<std::int32_t>(all * all * all);
    values_ = Buffer<double>(all * all * all);
    row_begin_[rows] = static_cast<std::int32_t>(all * all * all);
}

std::size_t StencilMatrix::first_entry(std::size_t row) const
{
    const std::size_t n = edge_;
    const std::size_t z = row / (n * n);
    const std::size_t y = row / n % n;
    const std::size_t x = row % n;
    const std::size_t all = reach_before(n, n);
    if (z == n) return all * all * all;
    // Whole planes, then lines of this plane, then points of this line.
    return reach_before(z, n) * all * all + reach(z, n) * reach_before(y, n) * all +
           reach(z, n) * reach(y, n) * reach_before(x, n);
}

void StencilMatrix::fill(Part rows)
{
    const std::size_t n = edge_;
    std::size_t entry = first_entry(rows.begin);
    const std::size_t last_entry = first_entry(rows.end);
    // One array after the other: pages that are touched in turn end up interleaved in memory, and reading is
    // then slower.
    std::fill(values_.data() + entry, values_.data() + last_entry, -1.0);
    std::fill(columns_.data() + entry, columns_.data() + last_entry, 0);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        const std::size_t z = row / (n * n);
        const std::size_t y = row / n % n;
        const std::size_t x = row % n;
        row_begin_[row] = static_cast<std::int32_t>(entry);
        for (std::size_t c = z - std::min<std::size_t>(z, 1); c <= std::min(z + 1, n - 1); ++c) {
            for (std::size_t b = y - std::min<std::size_t>(y, 1); b <= std::min(y + 1, n - 1); ++b) {
                for (std::size_t a = x - std::min<std::size_t>(x, 1); a <= std::min(x + 1, n - 1); ++a, ++entry) {
                    const std::size_t column = (c * n + b) * n + a;
                    columns_[entry] = static_cast<std::int32_t>(column);
                    if (column == row) values_[entry] = kStencilDiagonal;
                }
            }
        }
    }
}

double StencilMatrix::multiply(const double* x, double* y, Part rows) const
{
    const std::int32_t* const row_begin = row_begin_.data();
    const std::int32_t* const columns = columns_.data();
    const double* const values = values_.data();
    double product = 0;
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        const std::int32_t end = row_begin[row + 1];
        std::int32_t e = row_begin[row];
        // Four sums: with one, the latency of the additions and not the memory sets the speed.
        std::array<double, 4> sums{};
        for (; e + 4 <= end; e += 4) {
            sums[0] += values[e] * x[columns[e]];
            sums[1] += values[e + 1] * x[columns[e + 1]];
            sums[2] += values[e + 2] * x[columns[e + 2]];
            sums[3] += values[e + 3] * x[columns[e + 3]];
        }
        for (; e < end; ++e)
            sums[0] += values[e] * x[columns[e]];
        y[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        product += x[row] * y[row];
    }
    return product;
}

std::vector<double> stencil_product(std::size_t edge, std::span<const double> x)
{
    std::vector<double> box(x.begin(), x.end());
    std::vector<double> line(edge);
    for (const std::size_t stride : {std::size_t{1}, edge, edge * edge}) {
        for (std::size_t first = 0; first < box.size(); ++first) {
            if (first / stride % edge != 0) continue; // not the start of a line in this direction
            for (std::size_t i = 0; i < edge; ++i)
                line[i] = box[first + i * stride];
            for (std::size_t i = 0; i < edge; ++i) {
                const double before = i > 0 ? line[i - 1] : 0;
                const double after = i + 1 < edge ? line[i + 1] : 0;
                box[first + i * stride] = before + line[i] + after;
            }
        }
    }
    for (std::size_t i = 0; i < box.size(); ++i)
        box[i] = (kStencilDiagonal + 1) * x[i] - box[i]; // the box holds the point itself, which does not count −1
    return box;
}

} // namespace fathom::probes
