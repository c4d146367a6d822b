// Without <dlfcn.h>, whose declaration of dlsym() does not allow the tail call below.
#include "agent/gpu/interposer/driver.hpp"

extern "C" [[gnu::visibility("default")]] void* dlsym(void* handle, const char* name);

/// As the C library's, but for what this library has. The tail call keeps the caller's address on top of the stack, by
/// which the C library knows what comes next for RTLD_NEXT.
extern "C" void* dlsym(void* handle, const char* name)
{
    if (fathom::gpu::own_if_found(handle, name) != nullptr) return fathom::gpu::own_if_found(handle, name);
#if defined(__clang__)
    [[clang::musttail]]
#endif
    return fathom::gpu::real_dlsym_function()(handle, name);
}
