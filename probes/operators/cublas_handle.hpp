#pragma once

#include "probes/operators/cuda_memory.hpp"

#include <cublas_v2.h>

namespace fathom::probes {

/// What a handle allocates on the device for its kernels, generously: cuBLAS's own workspace.
inline constexpr double kCublasWorkspaceBytes = 64e6;

inline void check(cublasStatus_t status, const char* what)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    if (status == CUBLAS_STATUS_ALLOC_FAILED) throw DeviceMemoryError();
    throw CudaError(std::string(what) + ": " + cublasGetStatusString(status));
}

/// cuBLAS, working in a stream.
class CublasHandle {
  public:
    explicit CublasHandle(const CudaStream& stream)
    {
        check(cublasCreate(&handle_), "cublasCreate");
        if (const cublasStatus_t set = cublasSetStream(handle_, stream.get()); set != CUBLAS_STATUS_SUCCESS) {
            cublasDestroy(handle_);
            check(set, "cublasSetStream");
        }
    }
    ~CublasHandle() { cublasDestroy(handle_); }
    CublasHandle(const CublasHandle&) = delete;
    CublasHandle& operator=(const CublasHandle&) = delete;

    cublasHandle_t get() const { return handle_; }

  private:
    cublasHandle_t handle_{};
};

} // namespace fathom::probes
