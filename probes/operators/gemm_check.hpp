#pragma once

#include "probes/operators/random.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

/// What the matrix products share: how they are checked without the library under test.
namespace fathom::probes {

/// C = A·B: A is m × k, B is k × n, all row-major.
struct GemmShape {
    std::size_t m{};
    std::size_t n{};
    std::size_t k{};
};

/// Σ row[i]·v[i] in eight interleaved sums: faster than one, and its rounding error is smaller.
template <class T>
double dot_in_double(const T* row, const std::vector<double>& v)
{
    std::array<double, 8> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= v.size(); i += sums.size()) {
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums[lane] += static_cast<double>(row[i + lane]) * v[i + lane];
    }
    for (; i < v.size(); ++i)
        sums[0] += static_cast<double>(row[i]) * v[i];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Matrix times vector in double precision, whatever the matrix holds.
template <class T>
std::vector<double> multiply_in_double(const T* matrix, std::size_t rows, const std::vector<double>& v)
{
    std::vector<double> y(rows);
    for (std::size_t i = 0; i < rows; ++i)
        y[i] = dot_in_double(matrix + i * v.size(), v);
    return y;
}

/// Freivalds: for random v the norm of (C − A·B)·v estimates the Frobenius norm of C − A·B, at the price of
/// three matrix-vector products. Relative to the norm of A·B·v. `In` and `Out` convert to double.
/// @param seed  chooses v.
template <class In, class Out>
double gemm_error(const In* a, const In* b, const Out* c, const GemmShape& shape, std::uint64_t seed)
{
    std::vector<double> v(shape.n);
    for (std::size_t i = 0; i < v.size(); ++i) {
        const double size = random_unit(seed, i) + 0.5; // no element near 0
        v[i] = (random_bits(seed + 1, i) & 1U) != 0 ? size : -size;
    }
    const std::vector<double> truth = multiply_in_double(a, shape.m, multiply_in_double(b, shape.k, v));
    const std::vector<double> found = multiply_in_double(c, shape.m, v);
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        difference += (found[i] - truth[i]) * (found[i] - truth[i]);
        norm += truth[i] * truth[i];
    }
    return std::sqrt(difference / norm);
}

} // namespace fathom::probes
