#pragma once

#include "probes/operators/buffer.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/stencil_pattern.hpp"
#include "probes/operators/thread_team.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace fathom::probes {

/// An upper bound of the condition number for any grid: by Gershgorin all eigenvalues lie in 28 ± 26.
constexpr double kStencilCondition = 54.0 / 2.0;

/// The symmetric positive definite matrix of a 27-point stencil on an edge × edge × edge grid with a border of
/// zeros, in compressed sparse rows with 32-bit indices: stored as any sparse matrix is.
class StencilMatrix {
  public:
    StencilMatrix() = default;
    explicit StencilMatrix(std::size_t edge);

    /// Writes these rows. Threads may fill different rows at the same time.
    void fill(Part rows);

    /// Valid as long as this object is, and not moved from.
    CsrMatrix stored() const { return {row_begin_.data(), columns_.data(), values_.data()}; }

  private:
    std::size_t edge_{};
    Buffer<std::int32_t> row_begin_;
    Buffer<std::int32_t> columns_;
    Buffer<double> values_;
};

/// A·x from the stencil's definition: no matrix is stored, so nothing is shared with the code above. Sums over
/// 3 × 3 × 3 boxes are made along one direction after the other.
std::vector<double> stencil_product(std::size_t edge, std::span<const double> x);

} // namespace fathom::probes
