#include "probes/operators/checksum.hpp"
#include "probes/operators/conjugate_gradient/truth.hpp"
#include "probes/operators/cublas_handle.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/cusparse_product.hpp"
#include "probes/operators/stencil_pattern.hpp"

#include <cmath>
#include <utility>

namespace fathom::probes {
namespace {

/// One thread a row, and one for the end of the last row.
__global__ void fill_rows(std::size_t edge, std::size_t rows, std::int32_t* row_begin, std::int32_t* columns,
                          double* values)
{
    const std::size_t row = cuda_thread_position();
    if (row > rows) return;
    std::size_t entry = stencil_first_entry(row, edge);
    row_begin[row] = static_cast<std::int32_t>(entry);
    if (row == rows) return;
    for_stencil_columns(row, edge, [&](std::size_t column) {
        columns[entry] = static_cast<std::int32_t>(column);
        values[entry] = column == row ? kStencilDiagonal : -1.0;
        ++entry;
    });
}

/// a/b, but 0 where nothing is left to do: on tiny grids the residual can vanish altogether.
__device__ double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/// x += α·p, r −= α·q with α = rr/pq, the scalar products of the iteration, which stay on the device.
__global__ void step(std::size_t rows, const double* rr, const double* pq, const double* p, const double* q, double* x,
                     double* r)
{
    const std::size_t i = cuda_thread_position();
    if (i >= rows) return;
    const double alpha = quotient(*rr, *pq);
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

/// p = r + β·p with β = next/rr.
__global__ void turn(std::size_t rows, const double* next, const double* rr, const double* r, double* p)
{
    const std::size_t i = cuda_thread_position();
    if (i >= rows) return;
    p[i] = r[i] + quotient(*next, *rr) * p[i];
}

class CudaConjugateGradient final : public CudaOperator {
  public:
    CudaConjugateGradient(std::size_t edge, std::size_t iterations)
        : edge_(edge), rows_(edge * edge * edge), iterations_(iterations)
    {
    }

    void execute() override
    {
        double* const x = x_.written_by_device();
        double* const r = r_.written_by_device();
        double* rr = scalars_.data();
        double* next = scalars_.data() + 1;
        double* const pq = scalars_.data() + 2;
        const cudaStream_t on = stream().get();
        check(cudaMemsetAsync(x, 0, b_.bytes(), on), "cudaMemset"); // all bits 0: the number 0
        check(cudaMemcpyAsync(r, b_.data(), b_.bytes(), cudaMemcpyDeviceToDevice, on), "cudaMemcpy");
        check(cudaMemcpyAsync(p_.data(), b_.data(), b_.bytes(), cudaMemcpyDeviceToDevice, on), "cudaMemcpy");
        dot(r, r, rr);
        for (std::size_t i = 0; i < iterations_; ++i) {
            matrix_->multiply();
            dot(p_.data(), q_.data(), pq);
            step<<<cuda_blocks(rows_), kCudaBlock, 0, on>>>(rows_, rr, pq, p_.data(), q_.data(), x, r);
            dot(r, r, next);
            turn<<<cuda_blocks(rows_), kCudaBlock, 0, on>>>(rows_, next, rr, r, p_.data());
            check_launch();
            std::swap(rr, next);
        }
        stream().wait();
    }

    double error() override
    {
        const std::vector<double> b = fill_on_host<double>(rows_, RandomSigned<double>{seed()});
        return conjugate_gradient_error(edge_, iterations_, b, x_.on_host(stream()), r_.on_host(stream()));
    }

    std::string checksum() override { return rounded_checksum(x_.on_host(stream()), 1 / kStencilDiagonal); }

    std::string library() const override
    {
        return "cuBLAS, " + cuda_library_name("cuSPARSE", cusparseGetProperty) + ", own vector updates";
    }

    std::span<std::byte> output() override { return std::as_writable_bytes(x_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        b_ = DeviceArray<double>(rows_);
        p_ = DeviceArray<double>(rows_);
        q_ = DeviceArray<double>(rows_);
        scalars_ = DeviceArray<double>(3);
        x_ = DeviceResult<double>(rows_, stream());
        r_ = DeviceResult<double>(rows_, stream());
        fill_on_device(b_.data(), rows_, stream(), RandomSigned<double>{seed});

        matrix_.emplace(rows_, stencil_entries(edge_), stream());
        fill_rows<<<cuda_blocks(rows_ + 1), kCudaBlock, 0, stream().get()>>>(edge_, rows_, matrix_->row_begin(),
                                                                             matrix_->columns(), matrix_->values());
        check_launch();
        matrix_->plan(p_.data(), q_.data());
        cublas_.emplace(stream());
        check(cublasSetPointerMode(cublas_->get(), CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
    }

    /// *result = a·b, all on the device.
    void dot(const double* a, const double* b, double* result) const
    {
        check(cublasDdot(cublas_->get(), static_cast<int>(rows_), a, 1, b, 1, result), "cublasDdot");
    }

    std::size_t edge_;
    std::size_t rows_;
    std::size_t iterations_;
    DeviceArray<double> b_;
    DeviceArray<double> p_;       ///< direction
    DeviceArray<double> q_;       ///< A·p
    DeviceArray<double> scalars_; ///< r·r, the next r·r, p·A·p
    DeviceResult<double> x_;
    DeviceResult<double> r_; ///< residual, carried along
    std::optional<CusparseProduct> matrix_;
    std::optional<CublasHandle> cublas_;
};

std::unique_ptr<ProbeOperator> make_cuda_conjugate_gradient(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaConjugateGradient>(static_cast<std::size_t>(parameters.at("edge")),
                                                   static_cast<std::size_t>(parameters.at("iterations")));
}

double cuda_conjugate_gradient_host_memory(const Parameters& parameters)
{
    constexpr double kVectors = 3 + 5; // b, x and r; and the check's own
    return kVectors * 8 * std::pow(static_cast<double>(parameters.at("edge")), 3);
}

double cuda_conjugate_gradient_device_memory(const Parameters& parameters)
{
    const double rows = std::pow(static_cast<double>(parameters.at("edge")), 3);
    return cusparse_product_memory(rows, 27 * rows) + 5 * 8 * rows + kCublasWorkspaceBytes;
}

} // namespace

CudaImplementation conjugate_gradient_on_cuda()
{
    return {.make = make_cuda_conjugate_gradient,
            .host_memory = cuda_conjugate_gradient_host_memory,
            .device_memory = cuda_conjugate_gradient_device_memory};
}

} // namespace fathom::probes
