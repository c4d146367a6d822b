#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/entry_points.hpp"

#include <cstring>
#include <dlfcn.h>

/// How programs find the driver's functions: linked to it, by dlsym() (as CUDA's runtime library does, also where it is
/// linked statically), or by the driver's own cuGetProcAddress(). All three lead to the functions of this library
/// first.
namespace fathom::gpu {
namespace {

Dlsym* find_real_dlsym() noexcept
{
    // glibc moved it from libdl to libc in 2.34; programs are linked to either version.
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
        if (void* const found = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym*>(found);
    }
    return nullptr;
}

Dlsym* real() noexcept
{
    static Dlsym* const function = find_real_dlsym();
    return function;
}

} // namespace

Dlsym* real_dlsym_function()
{
    return real();
}

void* own_if_found(void* handle, const char* name)
{
    if (handle != RTLD_NEXT && std::strncmp(name, "nccl", 4) == 0) {
        void* const of_nccl = real()(handle, name);
        // RTLD_DEFAULT finds this library's function itself.
        const bool is_real = of_nccl != own_collective_function(name, nullptr);
        return of_nccl == nullptr ? nullptr : own_collective_function(name, is_real ? of_nccl : nullptr);
    }
    void* own = nullptr;
    if (handle != RTLD_NEXT && name[0] == 'c' && name[1] == 'u') own = own_function(name);
    if (handle != RTLD_NEXT && name[0] == 'n' && name[1] == 'v') own = own_management_function(name);
    // An "own" answer only where the program would have found one: an older driver lacks what this library has.
    return own == nullptr || real()(handle, name) == nullptr ? nullptr : own;
}

void* real_dlsym(void* handle, const char* name)
{
    return real()(handle, name);
}

void* driver_function(const char* name)
{
    // Kept for as long as the process lives: functions of it are.
    static void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr ? nullptr : real_dlsym(library, name);
}

Driver& driver()
{
    static Driver functions;
    return functions;
}

} // namespace fathom::gpu

using namespace fathom::gpu;

extern "C" {

/// Gives this library's function for a name without version, by the version that the driver chose.
[[gnu::visibility("default")]] cuda::Status cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                                             std::uint64_t flags)
{
    static DriverFunction<cuda::GetProcAddress> get{"cuGetProcAddress"};
    const cuda::Status status = get(symbol, function, cuda_version, flags);
    if (status == cuda::kSuccess && function != nullptr) *function = own_for(*function);
    return status;
}

/// For programs whose default streams are their threads'.
[[gnu::visibility("default")]] cuda::Status cuGetProcAddress_v2_ptsz(const char* symbol, void** function,
                                                                     int cuda_version, std::uint64_t flags, int* found)
{
    static DriverFunction<cuda::GetProcAddress2> get{"cuGetProcAddress_v2_ptsz"};
    const cuda::Status status = get(symbol, function, cuda_version, flags, found);
    if (status == cuda::kSuccess && function != nullptr) *function = own_for(*function);
    return status;
}

[[gnu::visibility("default")]] cuda::Status cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                                                std::uint64_t flags, int* found)
{
    static DriverFunction<cuda::GetProcAddress2> get{"cuGetProcAddress_v2"};
    const cuda::Status status = get(symbol, function, cuda_version, flags, found);
    if (status == cuda::kSuccess && function != nullptr) *function = own_for(*function);
    return status;
}

} // extern "C"
