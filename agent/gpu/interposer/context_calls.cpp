#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

/// The driver's functions that begin and end contexts, with which memory ends, and that let a GPU use another's memory.
namespace fathom::gpu {
namespace {

template <class OfDriver>
cuda::Status begin_context(cuda::Context* context, cuda::Device device, OfDriver of_driver)
{
    const cuda::Status status = of_driver();
    if (status == cuda::kSuccess) Share::instance().note_context(*context, device);
    return status;
}

/// Of a device, as long as somebody has it; null else, and where nothing is counted.
cuda::Context primary_context(cuda::Device device)
{
    static DriverFunction<cuda::DevicePrimaryCtxGetState> get_state{"cuDevicePrimaryCtxGetState"};
    static DriverFunction<cuda::DevicePrimaryCtxRetain> retain{"cuDevicePrimaryCtxRetain"};
    static DriverFunction<cuda::DevicePrimaryCtxRelease> let_go{"cuDevicePrimaryCtxRelease_v2"};
    unsigned flags = 0;
    int is_active = 0;
    cuda::Context context = nullptr;
    if (!Share::instance().is_used() || get_state(device, &flags, &is_active) != cuda::kSuccess || is_active == 0 ||
        retain(&context, device) != cuda::kSuccess)
        return nullptr;
    (void)let_go(device);
    return context;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

#define FATHOM_CREATE(name)                                                                                            \
    cuda::Status name(cuda::Context* context, unsigned flags, cuda::Device device)                                     \
    {                                                                                                                  \
        static DriverFunction<cuda::CtxCreate> of_driver{#name};                                                       \
        return begin_context(context, device, [&] { return of_driver(context, flags, device); });                      \
    }
FATHOM_CREATE(cuCtxCreate)
FATHOM_CREATE(cuCtxCreate_v2)

cuda::Status cuCtxCreate_v3(cuda::Context* context, void* affinities, int count, unsigned flags, cuda::Device device)
{
    static DriverFunction<cuda::CtxCreate3> of_driver{"cuCtxCreate_v3"};
    return begin_context(context, device, [&] { return of_driver(context, affinities, count, flags, device); });
}

cuda::Status cuCtxCreate_v4(cuda::Context* context, void* parameters, unsigned flags, cuda::Device device)
{
    static DriverFunction<cuda::CtxCreate4> of_driver{"cuCtxCreate_v4"};
    return begin_context(context, device, [&] { return of_driver(context, parameters, flags, device); });
}

cuda::Status cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::Device device)
{
    static DriverFunction<cuda::DevicePrimaryCtxRetain> of_driver{"cuDevicePrimaryCtxRetain"};
    return begin_context(context, device, [&] { return of_driver(context, device); });
}

#define FATHOM_DESTROY(name)                                                                                           \
    cuda::Status name(cuda::Context context)                                                                           \
    {                                                                                                                  \
        static DriverFunction<cuda::CtxDestroy> of_driver{#name};                                                      \
        Share::instance().drop_events(context);                                                                        \
        const cuda::Status status = of_driver(context);                                                                \
        if (status == cuda::kSuccess) Share::instance().drop_context(context);                                         \
        return status;                                                                                                 \
    }
FATHOM_DESTROY(cuCtxDestroy)
FATHOM_DESTROY(cuCtxDestroy_v2)

/// The last one ends the context.
cuda::Status cuCtxDetach(cuda::Context context)
{
    static DriverFunction<cuda::CtxDestroy> of_driver{"cuCtxDetach"};
    Share::instance().drop_events(context);
    return of_driver(context);
}

cuda::Status cuGreenCtxDestroy(void* green)
{
    static DriverFunction<cuda::GreenCtxDestroy> of_driver{"cuGreenCtxDestroy"};
    static DriverFunction<cuda::CtxFromGreenCtx> get_context{"cuCtxFromGreenCtx"};
    cuda::Context context = nullptr;
    if (Share::instance().is_counting() && get_context(&context, green) == cuda::kSuccess)
        Share::instance().drop_events(context);
    return of_driver(green);
}

#define FATHOM_RESET(name)                                                                                             \
    cuda::Status name(cuda::Device device)                                                                             \
    {                                                                                                                  \
        static DriverFunction<cuda::DevicePrimaryCtxReset> of_driver{#name};                                           \
        const cuda::Context context = primary_context(device);                                                         \
        Share::instance().drop_events(context);                                                                        \
        const cuda::Status status = of_driver(device);                                                                 \
        if (status == cuda::kSuccess) Share::instance().drop_context(context);                                         \
        return status;                                                                                                 \
    }
FATHOM_RESET(cuDevicePrimaryCtxReset)
FATHOM_RESET(cuDevicePrimaryCtxReset_v2)

/// The last release ends the context.
#define FATHOM_RELEASE(name)                                                                                           \
    cuda::Status name(cuda::Device device)                                                                             \
    {                                                                                                                  \
        static DriverFunction<cuda::DevicePrimaryCtxRelease> of_driver{#name};                                         \
        const cuda::Context context = primary_context(device);                                                         \
        Share::instance().drop_events(context);                                                                        \
        const cuda::Status status = of_driver(device);                                                                 \
        if (status == cuda::kSuccess && primary_context(device) == nullptr) Share::instance().drop_context(context);   \
        return status;                                                                                                 \
    }
FATHOM_RELEASE(cuDevicePrimaryCtxRelease)
FATHOM_RELEASE(cuDevicePrimaryCtxRelease_v2)

cuda::Status cuCtxEnablePeerAccess(cuda::Context peer, unsigned flags)
{
    static DriverFunction<cuda::CtxEnablePeerAccess> of_driver{"cuCtxEnablePeerAccess"};
    const cuda::Status status = of_driver(peer, flags);
    if (status == cuda::kSuccess) Share::instance().note_peer(peer);
    return status;
}

/// What is allocated from a pool lies among this library's blocks: access is given there.
cuda::Status cuMemPoolSetAccess(void* pool, const cuda::AccessDescription* access, std::size_t count)
{
    static DriverFunction<cuda::MemPoolSetAccess> of_driver{"cuMemPoolSetAccess"};
    const cuda::Status status = of_driver(pool, access, count);
    if (status != cuda::kSuccess) return status;
    for (std::size_t i = 0; i < count; ++i) {
        if (access[i].location.type == cuda::kLocationDevice && access[i].flags != 0)
            Share::instance().note_pool_peer(access[i].location.id);
    }
    return status;
}

} // extern "C"
#pragma GCC visibility pop
