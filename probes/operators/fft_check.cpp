#include "probes/operators/fft_check.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace fathom::probes {
namespace {

using Complex = std::complex<double>;

/// The operator of std::complex also handles infinities and is several times slower.
Complex times(Complex a, Complex b)
{
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex dot(std::span<const Complex> values, std::span<const Complex> weights)
{
    Complex sum;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += times(values[i], weights[i]);
    return sum;
}

/// A point halfway between two grid points along one edge.
class HalfPoint {
  public:
    HalfPoint(std::size_t n, std::uint64_t random) : n_(n), r_(random % n) {}

    /// e^(2πi·k·(r+1/2)/n). The angle is reduced in whole numbers: no accuracy is lost for large k.
    Complex harmonic(std::uint64_t k) const
    {
        const std::uint64_t reduced = (2 * r_ + 1) * k % (2 * n_);
        const double angle = std::numbers::pi * static_cast<double>(reduced) / static_cast<double>(n_);
        return {std::cos(angle), std::sin(angle)};
    }

    /// Σ_k e^(2πi·k·(r+1/2−j)/n)
    Complex kernel(std::uint64_t j) const
    {
        const double twice = 2 * (static_cast<double>(r_) - static_cast<double>(j)) + 1;
        return {1, 1 / std::tan(std::numbers::pi * twice / (2 * static_cast<double>(n_)))};
    }

  private:
    std::uint64_t n_;
    std::uint64_t r_;
};

/// What the elements of the spectrum and of the input count at a point.
struct Weights {
    Complex harmonic;
    Complex kernel;
};

/// The same for every position along one edge.
struct EdgeWeights {
    EdgeWeights(std::size_t n, std::uint64_t random)
    {
        const HalfPoint point(n, random);
        for (std::size_t k = 0; k < n; ++k) {
            harmonics.push_back(point.harmonic(k));
            kernels.push_back(point.kernel(k));
        }
    }
    std::vector<Complex> harmonics;
    std::vector<Complex> kernels;
};

/// What one plane adds to the spectrum's sum minus the input's.
Complex plane_difference(std::span<const Complex> input, std::span<const Complex> spectrum, const EdgeWeights& rows,
                         const EdgeWeights& columns, const Weights& plane)
{
    const std::size_t n = columns.harmonics.size();
    Complex from_spectrum;
    Complex from_input;
    for (std::size_t row = 0; row < rows.harmonics.size(); ++row) {
        from_spectrum += times(dot(spectrum.subspan(row * n, n), columns.harmonics), rows.harmonics[row]);
        from_input += times(dot(input.subspan(row * n, n), columns.kernels), rows.kernels[row]);
    }
    return times(from_spectrum, plane.harmonic) - times(from_input, plane.kernel);
}

/// Summed in blocks: the rounding error of one long sum would hide small errors of the transform.
double energy(std::span<const Complex> values)
{
    constexpr std::size_t kBlock = 1024;
    double total = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
        double sum = 0;
        for (const Complex value : values.subspan(begin, std::min(kBlock, values.size() - begin)))
            sum += value.real() * value.real() + value.imag() * value.imag();
        total += sum;
    }
    return total;
}

/// The largest of the differences at two points, relative to the spectrum's norm, and of Parseval's.
double largest_error(std::span<const Complex> input, std::span<const Complex> spectrum,
                     const std::function<double(int)>& difference_at)
{
    const double spectrum_energy = energy(spectrum);
    const double input_energy = energy(input) * static_cast<double>(input.size());
    const double parseval = std::abs(spectrum_energy / input_energy - 1) / 2;
    const double norm = std::sqrt(input_energy);
    return std::max({parseval, difference_at(0) / norm, difference_at(1) / norm});
}

} // namespace

double fft_error_1d(std::span<const Complex> input, std::span<const Complex> spectrum, std::uint64_t seed)
{
    const std::size_t n = input.size();
    // Harmonics of hi·block + lo are products of two tables: one multiplication instead of a sine.
    const auto block = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    return largest_error(input, spectrum, [&](int index) {
        const HalfPoint point(n, random_bits(seed, static_cast<std::uint64_t>(index)));
        std::vector<Complex> low(block);
        for (std::size_t k = 0; k < block; ++k)
            low[k] = point.harmonic(k);
        Complex from_spectrum;
        Complex from_input;
        for (std::size_t begin = 0; begin < n; begin += block) {
            const std::size_t length = std::min(block, n - begin);
            from_spectrum += times(dot(spectrum.subspan(begin, length), low), point.harmonic(begin));
            Complex sum;
            for (std::size_t j = begin; j < begin + length; ++j)
                sum += times(input[j], point.kernel(j));
            from_input += sum;
        }
        return std::abs(from_spectrum - from_input);
    });
}

double fft_error_2d(std::span<const Complex> input, std::span<const Complex> spectrum, std::size_t n,
                    std::uint64_t seed)
{
    return largest_error(input, spectrum, [&](int index) {
        const EdgeWeights rows(n, random_bits(seed, static_cast<std::uint64_t>(2 * index)));
        const EdgeWeights columns(n, random_bits(seed, static_cast<std::uint64_t>(2 * index + 1)));
        return std::abs(plane_difference(input, spectrum, rows, columns, {1, 1}));
    });
}

double fft_error_3d(std::span<const Complex> input, std::span<const Complex> spectrum, std::size_t n,
                    std::uint64_t seed)
{
    return largest_error(input, spectrum, [&](int index) {
        const auto edge = [&](int which) {
            return EdgeWeights(n, random_bits(seed, static_cast<std::uint64_t>(3 * index + which)));
        };
        const EdgeWeights planes = edge(0);
        const EdgeWeights rows = edge(1);
        const EdgeWeights columns = edge(2);
        Complex difference;
        for (std::size_t a = 0; a < n; ++a) {
            const Weights plane{planes.harmonics[a], planes.kernels[a]};
            difference += plane_difference(input.subspan(a * n * n, n * n), spectrum.subspan(a * n * n, n * n), rows,
                                           columns, plane);
        }
        return std::abs(difference);
    });
}

} // namespace fathom::probes
