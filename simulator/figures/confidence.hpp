#pragma once

#include <vector>

namespace fathom::simulation {

/// A mean over seeds with its 95 % interval (Student); without a width for one seed.
struct Confidence {
    double mean{};
    double half_width{}; ///< NaN with fewer than two values
};
Confidence confidence(const std::vector<double>& values);

} // namespace fathom::simulation
