#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

/// What the implementations of spmv share: the matrix, the vector, and the check.
namespace fathom::probes {

/// A circulant matrix with the pattern of a 27-point stencil on a grid of edge ∛rows whose lines and
/// planes follow each other without a border. It is stored like any other sparse matrix, so it costs
/// what any other costs, yet its eigenvectors are the harmonics: the truth has a closed form.
class CirculantStencil {
  public:
    static constexpr std::size_t kPerRow = 27;

    /// One entry of row i is `weight`, in column (i + offset) modulo rows.
    struct Entry {
        std::uint64_t offset;
        double weight;
    };

    CirculantStencil() = default;
    CirculantStencil(std::size_t rows, std::uint64_t seed);

    /// By ascending offset, all different.
    const std::array<Entry, kPerRow>& entries() const { return entries_; }

    /// Element i of the input vector, a sampled harmonic.
    double input(std::size_t i) const;

    /// The largest error of `y` = A·x for that input vector, by the eigenvalue; relative to what a row could
    /// sum up to, for the result itself may be small by cancellation.
    double error(std::span<const double> y) const;

    /// As above, for any vector `x`: the stencil is applied without the stored matrix.
    double error(std::span<const double> y, std::span<const double> x) const;

  private:
    double relative(double difference) const;

    std::size_t rows_{};
    std::array<Entry, kPerRow> entries_{};
    std::uint64_t frequency_{};
    std::complex<double> phase_;
};

} // namespace fathom::probes
