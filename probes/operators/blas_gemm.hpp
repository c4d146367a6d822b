#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/gemm_check.hpp"
#include "probes/operators/openblas_name.hpp"
#include "probes/operators/operator.hpp"
#include "probes/operators/thread_team.hpp"

#include <cblas.h>
#include <cmath>
#include <type_traits>

namespace fathom::probes {

/// C = A·B by OpenBLAS, row-major, no transposition, in the precision of T: what dgemm and sgemm share.
template <class T>
class BlasGemm final : public ProbeOperator {
  public:
    /// @param threads  of OpenBLAS (limit_library_threads): between so many the matrices are divided in memory.
    explicit BlasGemm(const Parameters& parameters, int threads = 1)
        : threads_(threads), m_(static_cast<std::size_t>(parameters.at("m"))),
          n_(static_cast<std::size_t>(parameters.at("n"))), k_(static_cast<std::size_t>(parameters.at("k")))
    {
    }

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        a_ = Buffer<T>(m_ * k_);
        b_ = Buffer<T>(k_ * n_);
        c_ = Buffer<T>(m_ * n_);
        ThreadTeam team(is_large() ? threads_ : 1);
        fill_in_parts(team, a_, [seed](std::size_t i) { return static_cast<T>(random_signed(seed, i)); });
        fill_in_parts(team, b_, [seed](std::size_t i) { return static_cast<T>(random_signed(seed + 1, i)); });
        fill_in_parts(team, c_, [](std::size_t) { return T(0); });
        return {};
    }

    void execute() override
    {
        const auto m = static_cast<blasint>(m_);
        const auto n = static_cast<blasint>(n_);
        const auto k = static_cast<blasint>(k_);
        if constexpr (std::is_same_v<T, double>)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a_.data(), k, b_.data(), n, 0, c_.data(),
                        n);
        else
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a_.data(), k, b_.data(), n, 0, c_.data(),
                        n);
    }

    std::vector<double> values() override { return {c_.span().begin(), c_.span().end()}; }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index > 1) return Error{Errc::kUnavailable, "has two inputs"};
        Buffer<T>& matrix = index == 0 ? a_ : b_;
        const std::vector<double> fitted = fit_values(values, matrix.size());
        for (std::size_t i = 0; i < fitted.size(); ++i)
            matrix[i] = static_cast<T>(fitted[i]);
        return {};
    }

    double error() override { return gemm_error(a_.data(), b_.data(), c_.data(), {m_, n_, k_}, seed_ + 2); }

    std::string checksum() override
    {
        return rounded_checksum(c_.span(), std::sqrt(static_cast<double>(k_)) / 3); // its standard deviation
    }

    std::string library() const override { return openblas_name(); }
    std::span<std::byte> output() override { return c_.bytes(); }

  private:
    /// Smaller ones lie in the caches, wherever their pages are.
    bool is_large() const
    {
        constexpr std::size_t kLarge_bytes = 1UL << 20U;
        return sizeof(T) * (a_.size() + b_.size() + c_.size()) >= kLarge_bytes;
    }

    int threads_;
    std::size_t m_;
    std::size_t n_;
    std::size_t k_;
    std::uint64_t seed_{};
    Buffer<T> a_;
    Buffer<T> b_;
    Buffer<T> c_;
};

/// Bytes of a product with these parameters m, n, k.
template <class T>
double blas_gemm_memory(const Parameters& parameters)
{
    const auto m = static_cast<double>(parameters.at("m"));
    const auto n = static_cast<double>(parameters.at("n"));
    const auto k = static_cast<double>(parameters.at("k"));
    return static_cast<double>(sizeof(T)) * (m * k + k * n + m * n);
}

} // namespace fathom::probes
