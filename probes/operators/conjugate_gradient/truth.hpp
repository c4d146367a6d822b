#pragma once

#include <cstddef>
#include <span>

namespace fathom::probes {

/// What the implementations of conjugate_gradient share: the check.
///
/// The residual b − A·x, recomputed from the stencil's definition without the stored matrix, must be the one
/// that the iteration carried along, `r`, and as small as theory promises: with condition number κ,
/// |r| ≤ 2·√κ·((√κ−1)/(√κ+1))^iterations·|b| (Saad, Iterative Methods for Sparse Linear Systems, 6.11.3).
/// Relative to the norm of b.
/// @param edge  of the grid; all spans have edge³ elements.
double conjugate_gradient_error(std::size_t edge, std::size_t iterations, std::span<const double> b,
                                std::span<const double> x, std::span<const double> r);

} // namespace fathom::probes
