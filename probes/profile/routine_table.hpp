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

} // namespace fathom::profile
