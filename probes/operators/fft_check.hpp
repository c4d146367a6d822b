#pragma once

#include <complex>
#include <cstdint>
#include <span>

namespace fathom::probes {

/// Relative error of a forward transform, checked against the input alone, in time linear in its size.
///
/// A trigonometric polynomial can be evaluated between the grid's points in two ways: by summing the
/// spectrum X with the harmonics of the point, or by applying the Dirichlet kernel of the point to the
/// input x. At half points r + 1/2 along an edge of n the kernel is simply 1 + i·cot(π(2(r−j)+1)/(2n)).
/// Every element of X takes part with weight one, so the difference, divided by the 2-norm of X,
/// estimates the relative error of the whole spectrum. Two random points are used, and Parseval's
/// equation besides; the largest of the three is the error.
/// @param n      points along each edge; `input` and `spectrum` have n^dimensions elements, row-major.
/// @param seed   chooses the points.
double fft_error_1d(std::span<const std::complex<double>> input, std::span<const std::complex<double>> spectrum,
                    std::uint64_t seed);
double fft_error_2d(std::span<const std::complex<double>> input, std::span<const std::complex<double>> spectrum,
                    std::size_t n, std::uint64_t seed);
double fft_error_3d(std::span<const std::complex<double>> input, std::span<const std::complex<double>> spectrum,
                    std::size_t n, std::uint64_t seed);

} // namespace fathom::probes
