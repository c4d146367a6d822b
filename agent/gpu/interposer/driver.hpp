#pragma once

#include "agent/gpu/cuda_abi.hpp"

#include <atomic>
#include <string_view>

/// NVIDIA's own driver, behind the functions of the same names that this library has.
namespace fathom::gpu {

using Dlsym = void*(void* handle, const char* name);
/// dlsym() as the C library has it, not this library's.
Dlsym* real_dlsym_function();
/// This library's function in place of the one that dlsym() would find; null where there is none.
void* own_if_found(void* handle, const char* name);
void* real_dlsym(void* handle, const char* name);
/// A function of the driver itself; null where the driver has none of that name.
void* driver_function(const char* name);

/// One function of the driver, found when it is first called.
template <class Signature>
class DriverFunction {
  public:
    constexpr explicit DriverFunction(const char* name) : name_(name) {}

    Signature* get()
    {
        void* found = function_.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = driver_function(name_);
            function_.store(found, std::memory_order_relaxed);
        }
        return reinterpret_cast<Signature*>(found);
    }

    /// kNotFound where this driver has none of that name.
    template <class... Arguments>
    cuda::Status operator()(Arguments... arguments)
    {
        Signature* const function = get();
        return function == nullptr ? cuda::kNotFound : function(arguments...);
    }

  private:
    const char* name_;
    std::atomic<void*> function_{nullptr};
};

/// What this library calls itself.
struct Driver {
    DriverFunction<cuda::MemAlloc> mem_alloc{"cuMemAlloc_v2"};
    DriverFunction<cuda::MemFree> mem_free{"cuMemFree_v2"};
    DriverFunction<cuda::MemGetInfo> mem_get_info{"cuMemGetInfo_v2"};
    DriverFunction<cuda::MemCreate> mem_create{"cuMemCreate"};
    DriverFunction<cuda::MemRelease> mem_release{"cuMemRelease"};
    DriverFunction<cuda::MemAddressReserve> mem_address_reserve{"cuMemAddressReserve"};
    DriverFunction<cuda::MemAddressFree> mem_address_free{"cuMemAddressFree"};
    DriverFunction<cuda::MemMap> mem_map{"cuMemMap"};
    DriverFunction<cuda::MemUnmap> mem_unmap{"cuMemUnmap"};
    DriverFunction<cuda::MemSetAccess> mem_set_access{"cuMemSetAccess"};
    DriverFunction<cuda::MemcpyDtoH> memcpy_dtoh{"cuMemcpyDtoH_v2"};
    DriverFunction<cuda::MemcpyHtoD> memcpy_htod{"cuMemcpyHtoD_v2"};
    DriverFunction<cuda::CtxSynchronize> ctx_synchronize{"cuCtxSynchronize"};
    DriverFunction<cuda::CtxGetCurrent> ctx_get_current{"cuCtxGetCurrent"};
    DriverFunction<cuda::CtxGetDevice> ctx_get_device{"cuCtxGetDevice"};
    DriverFunction<cuda::CtxPushCurrent> ctx_push_current{"cuCtxPushCurrent_v2"};
    DriverFunction<cuda::CtxPopCurrent> ctx_pop_current{"cuCtxPopCurrent_v2"};
    DriverFunction<cuda::DeviceGetUuid> device_get_uuid{"cuDeviceGetUuid_v2"};
    DriverFunction<cuda::DeviceTotalMem> device_total_mem{"cuDeviceTotalMem_v2"};
    DriverFunction<cuda::DeviceGraphMemTrim> device_graph_mem_trim{"cuDeviceGraphMemTrim"};
    DriverFunction<cuda::FuncGetAttribute> func_get_attribute{"cuFuncGetAttribute"};
    DriverFunction<cuda::KernelGetAttribute> kernel_get_attribute{"cuKernelGetAttribute"};
    DriverFunction<cuda::EventCreate> event_create{"cuEventCreate"};
    DriverFunction<cuda::EventDestroy> event_destroy{"cuEventDestroy_v2"};
    DriverFunction<cuda::EventRecord> event_record{"cuEventRecord"};
    DriverFunction<cuda::EventQuery> event_query{"cuEventQuery"};
    DriverFunction<cuda::EventElapsedTime> event_elapsed_time{"cuEventElapsedTime"};
};
Driver& driver();

/// A context is current on this thread as long as this lives.
class CurrentContext {
  public:
    explicit CurrentContext(cuda::Context context) : status_(driver().ctx_push_current(context)) {}
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
    ~CurrentContext()
    {
        cuda::Context before = nullptr;
        if (status_ == cuda::kSuccess) (void)driver().ctx_pop_current(&before);
    }
    cuda::Status status() const { return status_; }

  private:
    cuda::Status status_;
};

} // namespace fathom::gpu
