#pragma once

#include <string_view>

namespace fathom::profile {

/// A call's dimensions by their letters.
struct Sizes {
    double m{};
    double n{};
    double k{};
    double r{1};
};

using Formula = double (*)(const Sizes&);

/// What a routine computes on real numbers: operations, and numbers read and written.
struct Routine {
    std::string_view name;
    const char* kinds; ///< m matrix, v vector, s scalar
    Formula operations;
    Formula numbers;
};

/// A routine of BLAS, LAPACK or vector mathematics, without its element type; nullptr when it is not known.
const Routine* find_routine(std::string_view name);

/// How much of a routine's time goes as matrix products go, 0..1; the rest goes as the core does in general. 1 for the
/// routines of BLAS, which are optimized whole, and for those that are not known.
///
/// Half of a factorization or a solution: panels, pivots and triangular solves are the rest. Less of eigenvalues and
/// singular values, where half of the reduction's operations are products with vectors (Dongarra, Sorensen, Hammarling,
/// Block reduction of matrices to condensed forms, 1989), and next to nothing of QR iterations, which are rotations.
double product_part(std::string_view name);

} // namespace fathom::profile
