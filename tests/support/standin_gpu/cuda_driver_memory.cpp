// The stand-in driver's other ways to allocate: pitched, managed, in the order of a stream, and arrays.
#include "tests/support/standin_gpu/cuda_driver_state.hpp"

#include <algorithm>
#include <sys/mman.h>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

constexpr std::size_t kPage = 4096;

/// Of arrays with 32 bits in each channel.
Status make_array(Array* array, std::size_t width, std::size_t height, std::size_t depth, unsigned channels)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    if (array == nullptr || width == 0 || channels == 0) return kInvalidValue;
    const std::size_t bytes =
        width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1) * channels * sizeof(float);
    const std::scoped_lock lock(driver().mutex);
    Address address = 0;
    const Status status = take_block(&address, bytes, BlockOf::kArray);
    if (status == kSuccess) *array = reinterpret_cast<Array>(address);
    return status;
}

Status destroy_array(Array array)
{
    REFUSE_IN_CAPTURE(refuse_unsafe());
    wait_for_kernels();
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().blocks.find(reinterpret_cast<Address>(array));
    if (found == driver().blocks.end() || found->second.of != BlockOf::kArray)
        fault("an array is destroyed that is none");
    drop_block(found);
    return kSuccess;
}

/// Where a pool's memory lies. With the mutex held.
Location location_of(void* pool)
{
    const auto made = driver().pools.find(pool);
    if (made != driver().pools.end()) return made->second;
    for (std::size_t i = 0; i < driver().gpus.size(); ++i) {
        if (pool == &driver().gpus[i]) return {kLocationDevice, static_cast<Device>(i)};
    }
    fault("a pool is used that is none");
}

/// The current one where it is of that GPU. With the mutex held.
OwnContext* context_on(Device device)
{
    if (current_context()->device == device) return current_context();
    for (OwnContext* const context : driver().contexts) {
        if (context->device == device) return context;
    }
    fault("memory is allocated from the pool of a GPU without a context, which is not here");
}

/// What a stream that is captured allocates becomes a node of its graph, with the address that it will have.
Status allocate_in_order(Address* address, std::size_t bytes, Stream stream)
{
    CHECK_CONTEXT;
    if (address == nullptr || bytes == 0) return kInvalidValue;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    Capture* const capture = capture_of(stream);
    const bool is_of_pool = one.gpus[static_cast<std::size_t>(context->device)].pool != nullptr;
    if (capture == nullptr) return take_block(address, bytes, is_of_pool ? BlockOf::kPool : BlockOf::kProgram);
    if (capture->is_invalidated) return kCaptureInvalidated;
    *address = add_allocation(*capture->graph, bytes);
    return kSuccess;
}

Status free_in_order(Address address, Stream stream)
{
    CHECK_CONTEXT;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    {
        const std::scoped_lock lock(driver().mutex);
        if (Capture* const capture = capture_of(stream)) {
            if (capture->is_invalidated) return kCaptureInvalidated;
            return add_free(*capture->graph, address) ? kSuccess : kInvalidValue;
        }
    }
    wait_for_kernels();
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().blocks.find(address);
    if (found == driver().blocks.end()) fault("memory is released that is not allocated, or was released before");
    drop_block(found);
    return kSuccess;
}

} // namespace

Status take_block(Address* address, std::size_t bytes, BlockOf of, OwnContext* context)
{
    Driver& one = driver();
    Gpu& gpu = one.gpus[static_cast<std::size_t>(context->device)];
    if (bytes > static_cast<std::size_t>(gpu.bytes)) return kOutOfMemory;
    const std::size_t taken = rounded_up(bytes, kPage);
    if (of != BlockOf::kHost && !gpu.books->take(static_cast<std::int64_t>(taken), gpu.bytes)) return kOutOfMemory;
    void* const memory = ::mmap(nullptr, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fault("the host has no memory");
    poison(memory, taken);
    *address = reinterpret_cast<Address>(memory);
    one.blocks[*address] = {bytes, taken, context, of};
    ++context->blocks;
    return kSuccess;
}

void drop_block(std::map<Address, Block>::iterator block)
{
    const Block& one = block->second;
    if (one.of == BlockOf::kGraph) { // its graph keeps the address and the memory
        ::mprotect(reinterpret_cast<void*>(block->first), rounded_up(one.bytes, kPage), PROT_NONE);
    } else {
        ::munmap(reinterpret_cast<void*>(block->first), one.taken);
        if (one.of != BlockOf::kHost)
            (void)driver().gpus[static_cast<std::size_t>(one.context->device)].books->take(
                -static_cast<std::int64_t>(one.taken), 0);
    }
    --one.context->blocks;
    driver().blocks.erase(block);
}

} // namespace fathom::standin

#pragma GCC visibility push(default)
extern "C" {

Status cuMemAllocManaged(Address* address, std::size_t bytes, unsigned flags)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    // CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST
    if (address == nullptr || bytes == 0 || (flags != 1 && flags != 2)) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    return take_block(address, bytes, BlockOf::kProgram);
}

Status cuMemAllocPitch_v2(Address* address, std::size_t* pitch, std::size_t width, std::size_t height,
                          unsigned element_bytes)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    if (address == nullptr || pitch == nullptr || width == 0 || height == 0 ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return kInvalidValue;
    *pitch = rounded_up(width, 512);
    const std::scoped_lock lock(driver().mutex);
    return take_block(address, *pitch * height, BlockOf::kProgram);
}

Status cuMemAllocAsync(Address* address, std::size_t bytes, Stream stream)
{
    return allocate_in_order(address, bytes, stream);
}

Status cuMemAllocFromPoolAsync(Address* address, std::size_t bytes, void* pool, Stream stream)
{
    CHECK_CONTEXT;
    if (address == nullptr || bytes == 0 || pool == nullptr) return kInvalidValue;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    {
        const std::scoped_lock lock(driver().mutex);
        if (capture_of(stream) == nullptr) {
            const Location location = location_of(pool);
            if (location.type != kLocationDevice) return take_block(address, bytes, BlockOf::kHost);
            return take_block(address, bytes, BlockOf::kPool, context_on(location.id));
        }
    }
    return allocate_in_order(address, bytes, stream);
}

/// A pool has no memory of its own here.
Status cuMemPoolCreate(void** pool, const MemPoolProperties* properties)
{
    if (properties == nullptr || properties->type != kAllocationPinned) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    *pool = new char;
    driver().pools[*pool] = properties->location;
    return kSuccess;
}

Status cuMemPoolDestroy(void* pool)
{
    const std::scoped_lock lock(driver().mutex);
    if (driver().pools.erase(pool) == 0) fault("a pool is destroyed that is none");
    for (Gpu& gpu : driver().gpus) {
        if (gpu.pool == pool) gpu.pool = nullptr;
    }
    delete static_cast<char*>(pool);
    return kSuccess;
}

Status cuMemFreeAsync(Address address, Stream stream)
{
    return free_in_order(address, stream);
}

Status cuDeviceGetDefaultMemPool(void** pool, Device device)
{
    *pool = &driver().gpus.at(static_cast<std::size_t>(device));
    return kSuccess;
}

Status cuDeviceGetMemPool(void** pool, Device device)
{
    const std::scoped_lock lock(driver().mutex);
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    *pool = gpu.pool == nullptr ? &gpu : gpu.pool;
    return kSuccess;
}

/// The pool must be of that GPU.
Status cuDeviceSetMemPool(Device device, void* pool)
{
    const std::scoped_lock lock(driver().mutex);
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    const Location location = location_of(pool);
    if (location.type != kLocationDevice || location.id != device) return kInvalidValue;
    gpu.pool = pool == &gpu ? nullptr : pool;
    return kSuccess;
}

/// Of what is mapped in place of a pool's memory, who maps it says who may use it.
Status cuMemPoolSetAccess(void* pool, const AccessDescription* access, std::size_t count)
{
    return pool == nullptr || access == nullptr || count == 0 ? kInvalidValue : kSuccess;
}

Status cuArrayCreate_v2(Array* array, const ArrayDescription* description)
{
    if (description == nullptr) return kInvalidValue;
    return make_array(array, description->width, description->height, 1, description->channels);
}

Status cuArray3DCreate_v2(Array* array, const Array3dDescription* description)
{
    if (description == nullptr) return kInvalidValue;
    return make_array(array, description->width, description->height, description->depth, description->channels);
}

Status cuArrayDestroy(Array array)
{
    return destroy_array(array);
}

/// With as much as the smaller levels may have at most.
Status cuMipmappedArrayCreate(Array* array, const Array3dDescription* description, unsigned levels)
{
    if (description == nullptr || levels == 0) return kInvalidValue;
    return make_array(array, description->width, description->height + description->height / 3, description->depth,
                      description->channels);
}

Status cuMipmappedArrayDestroy(Array array)
{
    return destroy_array(array);
}

} // extern "C"
#pragma GCC visibility pop
