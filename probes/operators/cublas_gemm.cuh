#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/bf16.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cublas_handle.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/gemm_check.hpp"

#include <array>
#include <cmath>
#include <type_traits>

namespace fathom::probes {

inline GemmShape gemm_shape(const Parameters& parameters)
{
    return {static_cast<std::size_t>(parameters.at("m")), static_cast<std::size_t>(parameters.at("n")),
            static_cast<std::size_t>(parameters.at("k"))};
}

/// C = A·B by cuBLAS, row-major, no transposition: what dgemm, sgemm and gemm_mixed share. Sums and result are
/// in `Out`.
///
/// cuBLAS stores matrices by columns, so a row-major matrix is the transposed one to it. Cᵀ = Bᵀ·Aᵀ needs no
/// transposition: B comes first, and rows of C are what it takes for columns.
template <class In, class Out>
class CublasGemm final : public CudaOperator {
  public:
    explicit CublasGemm(const GemmShape& shape) : shape_(shape) {}

    void execute() override
    {
        const auto m = static_cast<int>(shape_.m);
        const auto n = static_cast<int>(shape_.n);
        const auto k = static_cast<int>(shape_.k);
        const Out one{1};
        const Out zero{0};
        const In* const a = inputs_[0].data();
        const In* const b = inputs_[1].data();
        Out* const c = c_.written_by_device();
        if constexpr (std::is_same_v<In, double>)
            check(cublasDgemm(cublas_->get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n),
                  "cublasDgemm");
        else if constexpr (std::is_same_v<In, float>)
            check(cublasSgemm(cublas_->get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n),
                  "cublasSgemm");
        else
            check(cublasGemmEx(cublas_->get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_16BF, n, a,
                               CUDA_R_16BF, k, &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
        stream().wait();
    }

    std::vector<double> values() override
    {
        if constexpr (kFeeds) {
            const std::span<const Out> c = c_.on_host(stream());
            return {c.begin(), c.end()};
        } else {
            return {};
        }
    }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if constexpr (kFeeds) {
            if (index >= inputs_.size()) return Error{Errc::kUnavailable, "has two inputs"};
            const std::vector<double> fitted = fit_values(values, inputs_[index].size());
            fed_[index].assign(fitted.begin(), fitted.end());
            inputs_[index].upload(fed_[index], stream());
            return {};
        } else {
            return ProbeOperator::feed(index, values);
        }
    }

    double error() override
    {
        const std::vector<In> a = input(0);
        const std::vector<In> b = input(1);
        return gemm_error(a.data(), b.data(), c_.on_host(stream()).data(), shape_, seed() + 2);
    }

    std::string checksum() override
    {
        // Scaled by its standard deviation.
        return rounded_checksum(c_.on_host(stream()), std::sqrt(static_cast<double>(shape_.k)) / 3);
    }

    std::string library() const override { return cuda_library_name("cuBLAS", cublasGetProperty); }
    std::span<std::byte> output() override { return std::as_writable_bytes(c_.on_host(stream())); }

  private:
    /// Results in 16 bits would lose what other operators are to compute on; on CPUs they are not fed either.
    static constexpr bool kFeeds = !std::is_same_v<In, Bf16>;

    void prepare_on_device(std::uint64_t seed) override
    {
        inputs_[0] = DeviceArray<In>(shape_.m * shape_.k);
        inputs_[1] = DeviceArray<In>(shape_.k * shape_.n);
        c_ = DeviceResult<Out>(shape_.m * shape_.n, stream());
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            fill_on_device(inputs_[i].data(), inputs_[i].size(), stream(), RandomSigned<In>{seed + i});
        cublas_.emplace(stream());
    }

    std::vector<In> input(std::size_t index) const
    {
        if (!fed_[index].empty()) return fed_[index];
        return fill_on_host<In>(inputs_[index].size(), RandomSigned<In>{seed() + index});
    }

    GemmShape shape_;
    std::array<DeviceArray<In>, 2> inputs_; ///< A, B
    std::array<std::vector<In>, 2> fed_;    ///< inputs that came from other operators
    DeviceResult<Out> c_;
    std::optional<CublasHandle> cublas_;
};

template <class In, class Out>
double cublas_gemm_host_memory(const Parameters& parameters)
{
    const GemmShape shape = gemm_shape(parameters);
    return static_cast<double>(sizeof(In) * (shape.m * shape.k + shape.k * shape.n) + sizeof(Out) * shape.m * shape.n);
}

template <class In, class Out>
double cublas_gemm_device_memory(const Parameters& parameters)
{
    return cublas_gemm_host_memory<In, Out>(parameters) + kCublasWorkspaceBytes;
}

} // namespace fathom::probes
