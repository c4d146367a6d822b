#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/fathom_gpu.h"
#include "agent/gpu/interposer/share.hpp"

#include <algorithm>
#include <optional>

/// The driver's functions that give and take memory, or tell of it, with this library's in their place; and what
/// programs may tell this library (fathom_gpu.h).
namespace fathom::gpu {
namespace {

/// Rows of pitched memory begin at multiples of it, as NVIDIA's do.
constexpr std::size_t kPitchBytes = 512;

/// Of one channel, by CUarray_format: 8, 16 or 32 bits; what is not known counts as the largest.
std::size_t channel_bytes(int format)
{
    switch (format) {
    case 0x01:
    case 0x08:
        return 1;
    case 0x02:
    case 0x09:
    case 0x10:
        return 2;
    default:
        return 4;
    }
}

std::size_t array_bytes(std::size_t width, std::size_t height, std::size_t depth, int format, unsigned channels)
{
    return width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1) * channel_bytes(format) *
           std::max(channels, 1U);
}

/// Of a stream that is captured into a graph, memory is a matter of the graph. A stream that cannot be asked because
/// another is captured is the driver's to refuse.
bool is_captured(cuda::Stream stream, DriverFunction<cuda::StreamIsCapturing>& is_capturing)
{
    int state = cuda::kCaptureNone;
    return Share::instance().is_capturing() &&
           (is_capturing(stream, &state) != cuda::kSuccess || state != cuda::kCaptureNone);
}

template <class OfDriver>
cuda::Status allocate_async(cuda::Address* address, std::size_t bytes, cuda::Stream stream, OfDriver of_driver,
                            DriverFunction<cuda::StreamIsCapturing>& is_capturing)
{
    if (!is_captured(stream, is_capturing)) return Share::instance().allocate(address, bytes, of_driver);
    // Whatever the stream is of a capture, the graph is the same.
    static DriverFunction<cuda::StreamGetCaptureInfo2> get_info{"cuStreamGetCaptureInfo_v2"};
    int state = cuda::kCaptureNone;
    cuda::Graph graph = nullptr;
    if (get_info(stream, &state, nullptr, &graph, nullptr, nullptr) != cuda::kSuccess || graph == nullptr)
        return of_driver();
    return Share::instance().allocate_in_graph(graph, bytes, of_driver);
}

/// From a pool. What is not this GPU's own memory, or is for other processes, too, cannot be mapped in pieces.
template <class OfDriver>
cuda::Status allocate_from_pool(cuda::Address* address, std::size_t bytes, void* pool, cuda::Stream stream,
                                OfDriver of_driver, DriverFunction<cuda::StreamIsCapturing>& is_capturing)
{
    Share& share = Share::instance();
    const std::optional<OwnPool> place = share.find_pool(pool);
    if (place && place->location.type != cuda::kLocationDevice) return of_driver();
    cuda::Device device = 0;
    const bool is_own = !place || (!place->is_drivers && driver().ctx_get_device(&device) == cuda::kSuccess &&
                                   device == place->location.id);
    if (is_own || is_captured(stream, is_capturing))
        return allocate_async(address, bytes, stream, of_driver, is_capturing);
    return share.allocate_native_on(place->location.id, bytes, of_driver, [&] { return *address; });
}

/// The pool that cuMemAllocAsync takes memory from; null where that is not known.
void* current_pool()
{
    static DriverFunction<cuda::DeviceGetMemPool> of_driver{"cuDeviceGetMemPool"};
    cuda::Device device = 0;
    void* pool = nullptr;
    if (!Share::instance().is_used() || driver().ctx_get_device(&device) != cuda::kSuccess ||
        of_driver(&pool, device) != cuda::kSuccess)
        return nullptr;
    return pool;
}

/// @param synchronize  of the same suffix: the default stream of a thread is another than that of all.
cuda::Status free_async(cuda::Address address, cuda::Stream stream, DriverFunction<cuda::MemFreeAsync>& of_driver,
                        DriverFunction<cuda::StreamIsCapturing>& is_capturing,
                        DriverFunction<cuda::StreamSynchronize>& synchronize)
{
    if (is_captured(stream, is_capturing)) return of_driver(address, stream);
    Share& share = Share::instance();
    bool is_idle = false;
    if (share.block_at(address)) {
        // Work before it in the stream uses it. What is released during a capture is not used again before its end.
        const std::unique_lock<std::mutex> no_capture = share.hold_off_captures();
        if (no_capture.owns_lock()) is_idle = synchronize(stream) == cuda::kSuccess;
    }
    return share.release(address, is_idle) ? cuda::kSuccess : of_driver(address, stream);
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

cuda::Status cuMemAlloc_v2(cuda::Address* address, std::size_t bytes)
{
    return Share::instance().allocate(address, bytes, [&] { return driver().mem_alloc(address, bytes); });
}

cuda::Status cuMemAllocPitch_v2(cuda::Address* address, std::size_t* pitch, std::size_t width_bytes, std::size_t height,
                                unsigned element_bytes)
{
    static DriverFunction<cuda::MemAllocPitch> of_driver{"cuMemAllocPitch_v2"};
    const auto by_driver = [&] { return of_driver(address, pitch, width_bytes, height, element_bytes); };
    // What the driver refuses or what overflows is the driver's to answer.
    const std::size_t row = (width_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
    std::size_t bytes = 0;
    const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (pitch == nullptr || !is_element || width_bytes == 0 || height == 0 || row < width_bytes ||
        __builtin_mul_overflow(row, height, &bytes))
        return by_driver();
    const cuda::Status status = Share::instance().allocate(address, bytes, [&] {
        const cuda::Status done = by_driver();
        return done;
    });
    if (status == cuda::kSuccess && Share::instance().block_at(*address)) *pitch = row;
    return status;
}

cuda::Status cuMemAllocManaged(cuda::Address* address, std::size_t bytes, unsigned flags)
{
    static DriverFunction<cuda::MemAllocManaged> of_driver{"cuMemAllocManaged"};
    // The driver moves its pages itself, to the host, too.
    return Share::instance().allocate_native(
        bytes, [&] { return of_driver(address, bytes, flags); }, [&] { return *address; });
}

cuda::Status cuMemFree_v2(cuda::Address address)
{
    return Share::instance().release(address) ? cuda::kSuccess : driver().mem_free(address);
}

#define FATHOM_ASYNC(suffix)                                                                                           \
    cuda::Status cuMemAllocAsync##suffix(cuda::Address* address, std::size_t bytes, cuda::Stream stream)               \
    {                                                                                                                  \
        static DriverFunction<cuda::MemAllocAsync> of_driver{"cuMemAllocAsync" #suffix};                               \
        static DriverFunction<cuda::StreamIsCapturing> is_capturing{"cuStreamIsCapturing" #suffix};                    \
        return allocate_from_pool(                                                                                     \
            address, bytes, current_pool(), stream, [&] { return of_driver(address, bytes, stream); }, is_capturing);  \
    }                                                                                                                  \
    cuda::Status cuMemAllocFromPoolAsync##suffix(cuda::Address* address, std::size_t bytes, void* pool,                \
                                                 cuda::Stream stream)                                                  \
    {                                                                                                                  \
        static DriverFunction<cuda::MemAllocFromPoolAsync> of_driver{"cuMemAllocFromPoolAsync" #suffix};               \
        static DriverFunction<cuda::StreamIsCapturing> is_capturing{"cuStreamIsCapturing" #suffix};                    \
        return allocate_from_pool(                                                                                     \
            address, bytes, pool, stream, [&] { return of_driver(address, bytes, pool, stream); }, is_capturing);      \
    }                                                                                                                  \
    cuda::Status cuMemFreeAsync##suffix(cuda::Address address, cuda::Stream stream)                                    \
    {                                                                                                                  \
        static DriverFunction<cuda::MemFreeAsync> of_driver{"cuMemFreeAsync" #suffix};                                 \
        static DriverFunction<cuda::StreamIsCapturing> is_capturing{"cuStreamIsCapturing" #suffix};                    \
        static DriverFunction<cuda::StreamSynchronize> synchronize{"cuStreamSynchronize" #suffix};                     \
        return free_async(address, stream, of_driver, is_capturing, synchronize);                                      \
    }
FATHOM_ASYNC()
FATHOM_ASYNC(_ptsz)

cuda::Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total)
{
    const cuda::Status status = driver().mem_get_info(free, total);
    if (status != cuda::kSuccess) return status;
    if (const auto own = Share::instance().view_of_current()) {
        if (free != nullptr) *free = own->free_bytes;
        if (total != nullptr) *total = own->total_bytes;
    }
    return status;
}

cuda::Status cuDeviceTotalMem_v2(std::size_t* bytes, cuda::Device device)
{
    const cuda::Status status = driver().device_total_mem(bytes, device);
    if (status != cuda::kSuccess) return status;
    if (const auto own = Share::instance().view_of(device)) *bytes = own->total_bytes;
    return status;
}

cuda::Status cuMemGetAddressRange_v2(cuda::Address* base, std::size_t* bytes, cuda::Address address)
{
    static DriverFunction<cuda::MemGetAddressRange> of_driver{"cuMemGetAddressRange_v2"};
    const auto block = Share::instance().block_at(address);
    if (!block) return of_driver(base, bytes, address);
    if (base != nullptr) *base = block->first;
    if (bytes != nullptr) *bytes = block->second;
    return cuda::kSuccess;
}

/// The driver has no such handle for memory that is mapped in pieces.
cuda::Status cuIpcGetMemHandle(void* handle, cuda::Address address)
{
    static DriverFunction<cuda::IpcGetMemHandle> of_driver{"cuIpcGetMemHandle"};
    return Share::instance().block_at(address) ? cuda::kNotSupported : of_driver(handle, address);
}

/// A program that maps memory itself, as PyTorch's expandable segments do: it is counted, and stays.
cuda::Status cuMemCreate(cuda::MemoryHandle* handle, std::size_t bytes, const cuda::AllocationProperties* properties,
                         unsigned long long flags)
{
    // The host's memory is not the GPU's, and what makes no sense is the driver's to refuse.
    if (properties == nullptr || properties->location.type != cuda::kLocationDevice)
        return driver().mem_create(handle, bytes, properties, flags);
    const cuda::Status status = Share::instance().allocate_native_on(
        properties->location.id, bytes, [&] { return driver().mem_create(handle, bytes, properties, flags); },
        [&] { return *handle; });
    if (status == cuda::kSuccess) Share::instance().note_handle(*handle);
    return status;
}

cuda::Status cuMemRetainAllocationHandle(cuda::MemoryHandle* handle, void* address)
{
    static DriverFunction<cuda::MemRetainAllocationHandle> of_driver{"cuMemRetainAllocationHandle"};
    const cuda::Status status = of_driver(handle, address);
    if (status == cuda::kSuccess) Share::instance().note_handle_retained(*handle);
    return status;
}

cuda::Status cuMemRelease(cuda::MemoryHandle handle)
{
    const cuda::Status status = driver().mem_release(handle);
    if (status == cuda::kSuccess) Share::instance().note_handle_released(handle);
    return status;
}

cuda::Status cuMemMap(cuda::Address address, std::size_t bytes, std::size_t offset, cuda::MemoryHandle handle,
                      unsigned long long flags)
{
    const cuda::Status status = driver().mem_map(address, bytes, offset, handle, flags);
    if (status == cuda::kSuccess) Share::instance().note_mapped(address, bytes, handle);
    return status;
}

cuda::Status cuMemUnmap(cuda::Address address, std::size_t bytes)
{
    const cuda::Status status = driver().mem_unmap(address, bytes);
    if (status == cuda::kSuccess) Share::instance().note_unmapped(address, bytes);
    return status;
}

cuda::Status cuArrayCreate_v2(cuda::Array* array, const cuda::ArrayDescription* description)
{
    static DriverFunction<cuda::ArrayCreate> of_driver{"cuArrayCreate_v2"};
    if (description == nullptr) return of_driver(array, description);
    return Share::instance().allocate_native(
        array_bytes(description->width, description->height, 1, description->format, description->channels),
        [&] { return of_driver(array, description); }, [&] { return reinterpret_cast<std::uintptr_t>(*array); });
}

cuda::Status cuArray3DCreate_v2(cuda::Array* array, const cuda::Array3dDescription* description)
{
    static DriverFunction<cuda::Array3dCreate> of_driver{"cuArray3DCreate_v2"};
    if (description == nullptr) return of_driver(array, description);
    return Share::instance().allocate_native(
        array_bytes(description->width, description->height, description->depth, description->format,
                    description->channels),
        [&] { return of_driver(array, description); }, [&] { return reinterpret_cast<std::uintptr_t>(*array); });
}

cuda::Status cuArrayDestroy(cuda::Array array)
{
    static DriverFunction<cuda::ArrayDestroy> of_driver{"cuArrayDestroy"};
    (void)Share::instance().release(reinterpret_cast<std::uintptr_t>(array));
    return of_driver(array);
}

cuda::Status cuMipmappedArrayCreate(cuda::Array* array, const cuda::Array3dDescription* description, unsigned levels)
{
    static DriverFunction<cuda::MipmappedArrayCreate> of_driver{"cuMipmappedArrayCreate"};
    if (description == nullptr) return of_driver(array, description, levels);
    // All smaller levels together are no larger than a third of the first (two dimensions).
    const std::size_t first = array_bytes(description->width, description->height, description->depth,
                                          description->format, description->channels);
    return Share::instance().allocate_native(
        first + first / 3, [&] { return of_driver(array, description, levels); },
        [&] { return reinterpret_cast<std::uintptr_t>(*array); });
}

cuda::Status cuMipmappedArrayDestroy(cuda::Array array)
{
    static DriverFunction<cuda::ArrayDestroy> of_driver{"cuMipmappedArrayDestroy"};
    (void)Share::instance().release(reinterpret_cast<std::uintptr_t>(array));
    return of_driver(array);
}

int fathom_gpu_set_kind(int kind)
{
    if (kind < FATHOM_GPU_UNKNOWN || kind > FATHOM_GPU_TEMPORARY) kind = FATHOM_GPU_UNKNOWN;
    return Share::instance().set_kind(kind);
}

void fathom_gpu_set_input_size(double size)
{
    Share::instance().set_input_size(size);
}

int fathom_gpu_iteration_end(void)
{
    return Share::instance().end_iteration(kIterationByCall) ? 1 : 0;
}

int fathom_gpu_is_turn_over(void)
{
    return Share::instance().is_turn_over() ? 1 : 0;
}

int fathom_gpu_is_shared(void)
{
    return Share::instance().is_shared() ? 1 : 0;
}

} // extern "C"
#pragma GCC visibility pop
