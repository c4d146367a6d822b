#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/random.hpp"

#include <array>
#include <cblas.h>
#include <cmath>
#include <numeric>
#include <vector>

namespace fathom::probes {
namespace {

/// Σ a[i]·b[i] in eight interleaved sums: faster than one, and its rounding error is smaller.
double dot(const double* a, const double* b, std::size_t size)
{
    std::array<double, 8> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= size; i += sums.size()) {
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < size; ++i)
        sums[0] += a[i] * b[i];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// M·v for a row-major matrix; our own loop, for the check must not use the library it checks.
std::vector<double> multiply(const Buffer<double>& matrix, std::size_t rows, const std::vector<double>& v)
{
    std::vector<double> y(rows);
    for (std::size_t i = 0; i < rows; ++i)
        y[i] = dot(matrix.data() + i * v.size(), v.data(), v.size());
    return y;
}

class Dgemm final : public ProbeOperator {
  public:
    explicit Dgemm(const Parameters& parameters)
        : m_(static_cast<std::size_t>(parameters.at("m"))), n_(static_cast<std::size_t>(parameters.at("n"))),
          k_(static_cast<std::size_t>(parameters.at("k")))
    {
    }

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        a_ = Buffer<double>(m_ * k_);
        b_ = Buffer<double>(k_ * n_);
        c_ = Buffer<double>(m_ * n_);
        for (std::size_t i = 0; i < a_.size(); ++i)
            a_[i] = random_signed(seed, i);
        for (std::size_t i = 0; i < b_.size(); ++i)
            b_[i] = random_signed(seed + 1, i);
        for (std::size_t i = 0; i < c_.size(); ++i)
            c_[i] = 0;
        return {};
    }

    void execute() override
    {
        const auto m = static_cast<blasint>(m_);
        const auto n = static_cast<blasint>(n_);
        const auto k = static_cast<blasint>(k_);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a_.data(), k, b_.data(), n, 0.0, c_.data(),
                    n);
    }

    /// Freivalds: for random v the norm of (C − A·B)·v estimates the Frobenius norm of C − A·B.
    double error() override
    {
        std::vector<double> v(n_);
        for (std::size_t i = 0; i < n_; ++i)
            v[i] = random_unit(seed_ + 2, i) + 0.5; // no element near 0
        for (std::size_t i = 0; i < n_; ++i)
            v[i] = (random_bits(seed_ + 3, i) & 1U) != 0 ? v[i] : -v[i];
        const std::vector<double> truth = multiply(a_, m_, multiply(b_, k_, v));
        const std::vector<double> found = multiply(c_, m_, v);
        double difference = 0;
        double norm = 0;
        for (std::size_t i = 0; i < m_; ++i) {
            difference += (found[i] - truth[i]) * (found[i] - truth[i]);
            norm += truth[i] * truth[i];
        }
        return std::sqrt(difference / norm);
    }

    std::string checksum() override
    {
        return rounded_checksum(c_.span(), std::sqrt(static_cast<double>(k_)) / 3); // its standard deviation
    }

    std::string library() const override
    {
        // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …": the first two words are the version.
        const std::string config = openblas_get_config();
        const std::size_t name_end = config.find(' ');
        const std::size_t version_end = name_end == std::string::npos ? name_end : config.find(' ', name_end + 1);
        return config.substr(0, version_end) + " " + openblas_get_corename();
    }

    std::span<std::byte> output() override { return c_.bytes(); }

  private:
    std::size_t m_;
    std::size_t n_;
    std::size_t k_;
    std::uint64_t seed_{};
    Buffer<double> a_;
    Buffer<double> b_;
    Buffer<double> c_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_dgemm(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<Dgemm>(parameters); // OpenBLAS counts threads per process: limit_library_threads
}

double dgemm_memory(const Parameters& parameters)
{
    const auto m = static_cast<double>(parameters.at("m"));
    const auto n = static_cast<double>(parameters.at("n"));
    const auto k = static_cast<double>(parameters.at("k"));
    return 8 * (m * k + k * n + m * n);
}

} // namespace fathom::probes
