#include "probes/operators/cusparse_product.hpp"

namespace fathom::probes {
namespace {

constexpr double kOne = 1;
constexpr double kZero = 0;
constexpr cusparseSpMVAlg_t kAlgorithm = CUSPARSE_SPMV_ALG_DEFAULT;

void check(cusparseStatus_t status, const char* what)
{
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        throw DeviceMemoryError();
    throw CudaError(std::string(what) + ": " + cusparseGetErrorString(status));
}

} // namespace

CusparseProduct::CusparseProduct(std::size_t rows, std::size_t entries, const CudaStream& stream)
    : rows_(rows), row_begin_(rows + 1), columns_(entries), values_(entries)
{
    check(cusparseCreate(&handle_), "cusparseCreate");
    if (const cusparseStatus_t set = cusparseSetStream(handle_, stream.get()); set != CUSPARSE_STATUS_SUCCESS) {
        cusparseDestroy(handle_);
        check(set, "cusparseSetStream");
    }
}

CusparseProduct::~CusparseProduct()
{
    cusparseDestroy(handle_);
}

void CusparseProduct::plan(double* x, double* y)
{
    const auto rows = static_cast<std::int64_t>(rows_);
    cusparseSpMatDescr_t matrix = nullptr;
    check(cusparseCreateCsr(&matrix, rows, rows, static_cast<std::int64_t>(values_.size()), row_begin_.data(),
                            columns_.data(), values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
    matrix_.reset(matrix);
    cusparseDnVecDescr_t vector = nullptr;
    check(cusparseCreateDnVec(&vector, rows, x, CUDA_R_64F), "cusparseCreateDnVec");
    x_.reset(vector);
    check(cusparseCreateDnVec(&vector, rows, y, CUDA_R_64F), "cusparseCreateDnVec");
    y_.reset(vector);

    std::size_t work_bytes = 0;
    check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(), x_.get(), &kZero,
                                  y_.get(), CUDA_R_64F, kAlgorithm, &work_bytes),
          "cusparseSpMV_bufferSize");
    work_ = DeviceArray<std::byte>(work_bytes);
    check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(), x_.get(), &kZero,
                                  y_.get(), CUDA_R_64F, kAlgorithm, work_.data()),
          "cusparseSpMV_preprocess");
}

void CusparseProduct::multiply()
{
    check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(), x_.get(), &kZero, y_.get(),
                       CUDA_R_64F, kAlgorithm, work_.data()),
          "cusparseSpMV");
}

double cusparse_product_memory(double rows, double entries)
{
    constexpr double kWorkBytesARow = 8; // what cuSPARSE notes about the rows when it plans
    return 12 * entries + (4 + kWorkBytesARow) * rows;
}

} // namespace fathom::probes
