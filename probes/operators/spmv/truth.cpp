#include "probes/operators/spmv/truth.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fathom::probes {
namespace {

/// e^(2πi·f·j/n), the angle reduced in whole numbers.
std::complex<double> harmonic(std::uint64_t f, std::uint64_t j, std::uint64_t n)
{
    const double angle = 2 * std::numbers::pi * static_cast<double>(f * j % n) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

} // namespace

CirculantStencil::CirculantStencil(std::size_t rows, std::uint64_t seed)
    : rows_(rows), frequency_(1 + random_bits(seed + 1, 0) % (rows - 1)),
      phase_(std::polar(1.0, 2 * std::numbers::pi * random_unit(seed + 1, 1)))
{
    const auto edge = static_cast<std::int64_t>(std::cbrt(static_cast<double>(rows)));
    const auto signed_rows = static_cast<std::int64_t>(rows);
    std::size_t e = 0;
    for (std::int64_t plane = -1; plane <= 1; ++plane) {
        for (std::int64_t line = -1; line <= 1; ++line) {
            for (std::int64_t point = -1; point <= 1; ++point, ++e) {
                const std::int64_t offset = (plane * edge + line) * edge + point;
                entries_[e] = {static_cast<std::uint64_t>((offset + signed_rows) % signed_rows),
                               0.5 + random_unit(seed, e)};
            }
        }
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.offset < b.offset; });
}

double CirculantStencil::input(std::size_t i) const
{
    return (phase_ * harmonic(frequency_, i, rows_)).real();
}

double CirculantStencil::error(std::span<const double> y) const
{
    std::complex<double> eigenvalue;
    for (const Entry& entry : entries_)
        eigenvalue += entry.weight * harmonic(frequency_, entry.offset, rows_);
    const std::complex<double> factor = eigenvalue * phase_;
    double difference = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
        const double found = std::abs(y[i] - (factor * harmonic(frequency_, i, rows_)).real());
        if (!(found <= difference)) difference = found; // keeps a NaN
    }
    return relative(difference);
}

double CirculantStencil::error(std::span<const double> y, std::span<const double> x) const
{
    double difference = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
        double truth = 0;
        for (const Entry& entry : entries_)
            truth += entry.weight * x[(i + entry.offset) % rows_];
        const double found = std::abs(y[i] - truth);
        if (!(found <= difference)) difference = found; // keeps a NaN
    }
    return relative(difference);
}

double CirculantStencil::relative(double difference) const
{
    double largest = 0;
    for (const Entry& entry : entries_)
        largest += entry.weight;
    return difference / largest;
}

} // namespace fathom::probes
