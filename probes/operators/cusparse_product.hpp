#pragma once

#include "probes/operators/cuda_memory.hpp"

#include <cstdint>
#include <cusparse.h>
#include <memory>

namespace fathom::probes {

/// y = A·x by cuSPARSE for a square matrix in compressed sparse rows, 32-bit indices, double precision.
class CusparseProduct {
  public:
    /// The arrays of the matrix are there, and for the caller to fill before plan.
    /// @param rows, entries  below 2^31.
    /// @param stream         must outlive the product.
    CusparseProduct(std::size_t rows, std::size_t entries, const CudaStream& stream);
    ~CusparseProduct();
    CusparseProduct(const CusparseProduct&) = delete;
    CusparseProduct& operator=(const CusparseProduct&) = delete;

    std::int32_t* row_begin() { return row_begin_.data(); } ///< rows + 1
    std::int32_t* columns() { return columns_.data(); }
    double* values() { return values_.data(); }

    /// Chooses how to multiply, once. The vectors are on the device and stay where they are.
    void plan(double* x, double* y);

    /// Puts one product into the stream.
    void multiply();

  private:
    struct Destroy {
        void operator()(cusparseSpMatDescr* matrix) const { cusparseDestroySpMat(matrix); }
        void operator()(cusparseDnVecDescr* vector) const { cusparseDestroyDnVec(vector); }
    };

    std::size_t rows_;
    DeviceArray<std::int32_t> row_begin_;
    DeviceArray<std::int32_t> columns_;
    DeviceArray<double> values_;
    DeviceArray<std::byte> work_;
    cusparseHandle_t handle_{};
    std::unique_ptr<cusparseSpMatDescr, Destroy> matrix_;
    std::unique_ptr<cusparseDnVecDescr, Destroy> x_;
    std::unique_ptr<cusparseDnVecDescr, Destroy> y_;
};

/// Bytes on the device, without the vectors.
double cusparse_product_memory(double rows, double entries);

} // namespace fathom::probes
