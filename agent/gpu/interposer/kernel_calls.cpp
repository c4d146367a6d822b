#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

/// The driver's functions by which programs get kernels by name. Also CUDA's runtime library gets them so.
namespace fathom::gpu {
namespace {

template <class OfDriver>
cuda::Status get_kernel(void** function, KernelLaunches::Handle handle, void* owner, const char* name,
                        OfDriver of_driver)
{
    const cuda::Status status = of_driver();
    Share& share = Share::instance();
    if (status == cuda::kSuccess && share.is_used() && function != nullptr && name != nullptr)
        share.kernels().note_name(*function, handle, owner, name);
    return status;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

cuda::Status cuModuleGetFunction(void** function, void* module, const char* name)
{
    static DriverFunction<cuda::ModuleGetFunction> of_driver{"cuModuleGetFunction"};
    return get_kernel(function, KernelLaunches::Handle::kFunction, module, name,
                      [&] { return of_driver(function, module, name); });
}

cuda::Status cuLibraryGetKernel(void** kernel, void* library, const char* name)
{
    static DriverFunction<cuda::ModuleGetFunction> of_driver{"cuLibraryGetKernel"};
    return get_kernel(kernel, KernelLaunches::Handle::kKernel, library, name,
                      [&] { return of_driver(kernel, library, name); });
}

cuda::Status cuKernelGetFunction(void** function, void* kernel)
{
    static DriverFunction<cuda::KernelGetFunction> of_driver{"cuKernelGetFunction"};
    const cuda::Status status = of_driver(function, kernel);
    if (status == cuda::kSuccess && Share::instance().is_used() && function != nullptr)
        Share::instance().kernels().note_function(*function, kernel);
    return status;
}

} // extern "C"
#pragma GCC visibility pop
