#include "probes/operators/stencil_matrix.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

/// Each value of the line that begins at `first` becomes the sum of itself and its neighbours. `line` is for its
/// values.
void add_neighbours(std::vector<double>& box, std::size_t first, std::size_t stride, std::vector<double>& line)
{
    const std::size_t edge = line.size();
    for (std::size_t i = 0; i < edge; ++i)
        line[i] = box[first + i * stride];
    for (std::size_t i = 0; i < edge; ++i) {
        const double before = i > 0 ? line[i - 1] : 0;
        const double after = i + 1 < edge ? line[i + 1] : 0;
        box[first + i * stride] = before + line[i] + after;
    }
}

} // namespace

StencilMatrix::StencilMatrix(std::size_t edge) : edge_(edge)
{
    const std::size_t rows = edge * edge * edge;
    const std::size_t entries = stencil_entries(edge);
    row_begin_ = Buffer<std::int32_t>(rows + 1);
    columns_ = Buffer<std::int32_t>(entries);
    values_ = Buffer<double>(entries);
    row_begin_[rows] = static_cast<std::int32_t>(entries);
}

void StencilMatrix::fill(Part rows)
{
    std::size_t entry = stencil_first_entry(rows.begin, edge_);
    const std::size_t last_entry = stencil_first_entry(rows.end, edge_);
    // One array after the other: pages that are touched in turn end up interleaved in memory, and reading is
    // then slower.
    std::fill(values_.data() + entry, values_.data() + last_entry, -1.0);
    std::fill(columns_.data() + entry, columns_.data() + last_entry, 0);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        row_begin_[row] = static_cast<std::int32_t>(entry);
        for_stencil_columns(row, edge_, [&](std::size_t column) {
            columns_[entry] = static_cast<std::int32_t>(column);
            if (column == row) values_[entry] = kStencilDiagonal;
            ++entry;
        });
    }
}

std::vector<double> stencil_product(std::size_t edge, std::span<const double> x)
{
    std::vector<double> box(x.begin(), x.end());
    std::vector<double> line(edge);
    for (const std::size_t stride : {std::size_t{1}, edge, edge * edge}) {
        for (std::size_t first = 0; first < box.size(); ++first) {
            const bool is_start = first / stride % edge == 0; // of a line in this direction
            if (is_start) add_neighbours(box, first, stride, line);
        }
    }
    for (std::size_t i = 0; i < box.size(); ++i)
        box[i] = (kStencilDiagonal + 1) * x[i] - box[i]; // the box holds the point itself, which does not count −1
    return box;
}

} // namespace fathom::probes
