#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

/// The driver's functions by which a program comes to pools of memory: it must be known where their memory is.
namespace fathom::gpu {
namespace {

template <class OfDriver>
cuda::Status get_pool(void** pool, const OwnPool& place, OfDriver of_driver)
{
    const cuda::Status status = of_driver();
    if (status == cuda::kSuccess) Share::instance().note_pool(*pool, place);
    return status;
}

/// One that the program made itself is known already, with all that it is.
template <class OfDriver>
cuda::Status get_current_pool(void** pool, const cuda::Location& location, OfDriver of_driver)
{
    const cuda::Status status = of_driver();
    if (status == cuda::kSuccess && !Share::instance().find_pool(*pool))
        Share::instance().note_pool(*pool, {location, false});
    return status;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

cuda::Status cuMemPoolCreate(void** pool, const cuda::MemPoolProperties* properties)
{
    static DriverFunction<cuda::MemPoolCreate> of_driver{"cuMemPoolCreate"};
    if (properties == nullptr) return of_driver(pool, properties);
    const bool is_drivers = properties->handle_types != 0 || properties->type != cuda::kAllocationPinned;
    return get_pool(pool, {properties->location, is_drivers}, [&] { return of_driver(pool, properties); });
}

cuda::Status cuMemPoolDestroy(void* pool)
{
    static DriverFunction<cuda::MemPoolDestroy> of_driver{"cuMemPoolDestroy"};
    const cuda::Status status = of_driver(pool);
    if (status == cuda::kSuccess) Share::instance().note_pool_gone(pool);
    return status;
}

cuda::Status cuDeviceGetDefaultMemPool(void** pool, cuda::Device device)
{
    static DriverFunction<cuda::DeviceGetMemPool> of_driver{"cuDeviceGetDefaultMemPool"};
    return get_pool(pool, {{cuda::kLocationDevice, device}, false}, [&] { return of_driver(pool, device); });
}

cuda::Status cuDeviceGetMemPool(void** pool, cuda::Device device)
{
    static DriverFunction<cuda::DeviceGetMemPool> of_driver{"cuDeviceGetMemPool"};
    return get_current_pool(pool, {cuda::kLocationDevice, device}, [&] { return of_driver(pool, device); });
}

#define FATHOM_POOL_OF(name)                                                                                           \
    cuda::Status name(void** pool, cuda::Location* location, int type)                                                 \
    {                                                                                                                  \
        static DriverFunction<cuda::MemGetMemPool> of_driver{#name};                                                   \
        if (location == nullptr) return of_driver(pool, location, type);                                               \
        const auto ask = [&] { return of_driver(pool, location, type); };                                              \
        if (type != cuda::kAllocationPinned) return get_pool(pool, {*location, true}, ask);                            \
        return get_current_pool(pool, *location, ask);                                                                 \
    }
FATHOM_POOL_OF(cuMemGetDefaultMemPool)
FATHOM_POOL_OF(cuMemGetMemPool)

} // extern "C"
#pragma GCC visibility pop
