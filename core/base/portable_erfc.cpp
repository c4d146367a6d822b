#include "core/base/portable_erfc.hpp"

#include "core/base/portable_math.hpp"
#include "core/base/wide_number.hpp"

#include <array>
#include <cstddef>
#include <limits>

namespace fathom::portable {
namespace {

constexpr int kTerms = 48;   ///< of the series, at most
constexpr double kSplit = 2; ///< up to it the series, beyond it the continued fraction

/// 2/√π · (−1)ⁿ / (n! (2n + 1))
constexpr std::array<Wide, kTerms> make_coefficients()
{
    constexpr Wide kTwoOverRootPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
    std::array<Wide, kTerms> coefficients{};
    Wide over_factorial = kTwoOverRootPi;
    for (int n = 0; n < kTerms; ++n) {
        if (n > 0) over_factorial = quotient(over_factorial, -n);
        coefficients[static_cast<std::size_t>(n)] = quotient(over_factorial, 2 * n + 1);
    }
    return coefficients;
}
constexpr std::array<Wide, kTerms> kCoefficients = make_coefficients();

/// 1 − erf x by the series of erf, |x| ≤ 2: in wide numbers, what cancels leaves enough.
double by_series(double x)
{
    const Wide square = product(x, x);
    Wide series{};
    for (std::size_t n = kTerms; n-- > 0;)
        series = sum(product(series, square), kCoefficients[n]);
    const Wide erf = product(series, Wide{x, 0});
    const Wide result = sum(Wide{1, 0}, Wide{-erf.high, -erf.low});
    return result.high + result.low;
}

/// x > 2: e^(−x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))) (Laplace; Abramowitz and Stegun, 7.1.14).
double by_fraction(double x)
{
    constexpr Wide kRootPi{0x1.c5bf891b4ef6bp+0, -0x1.618f13eb7ca89p-54};
    const int terms = 12 + static_cast<int>(260 / (x * x));
    double fraction = x; // from its end on, but for the first x
    for (int n = terms; n > 1; --n)
        fraction = x + 0.5 * n / fraction;
    const Wide divisor = product(sum(x, 0.5 / fraction), kRootPi);
    const Wide square = product(x, x);
    const double power = exp(-square.high);
    const Wide result = quotient(Wide{power, -power * square.low}, divisor.high);
    return result.high + (result.low - result.high * (divisor.low / divisor.high));
}

} // namespace

double erfc(double x)
{
    constexpr double kNothing = 28; // beyond it, less than the least number
    if (x != x) return std::numeric_limits<double>::quiet_NaN();
    if (x > kNothing) return 0;
    if (x < -kNothing) return 2;
    if (x > kSplit) return by_fraction(x);
    if (x < -kSplit) return 2 - by_fraction(-x);
    return by_series(x);
}

} // namespace fathom::portable
