#include "probes/operators/conjugate_gradient/truth.hpp"

#include "probes/operators/stencil_matrix.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace fathom::probes {
namespace {

double norm(std::span<const double> values)
{
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

} // namespace

double conjugate_gradient_error(std::size_t edge, std::size_t iterations, std::span<const double> b,
                                std::span<const double> x, std::span<const double> r)
{
    const std::vector<double> product = stencil_product(edge, x);
    std::vector<double> residual(b.size());
    std::vector<double> difference(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
        residual[i] = b[i] - product[i];
        difference[i] = residual[i] - r[i];
    }
    const double scale = norm(b);
    const double root = std::sqrt(kStencilCondition);
    const double promised = 2 * root * std::pow((root - 1) / (root + 1), static_cast<double>(iterations));
    const double left = norm(residual) / scale;
    if (left > promised + 1e-12) return left; // so many iterations cannot have been made
    return norm(difference) / scale;
}

} // namespace fathom::probes
