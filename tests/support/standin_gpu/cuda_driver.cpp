// A stand-in for NVIDIA's driver, libcuda.so.1, where there is no GPU. Memory of a device is memory of this process at
// the same addresses, so that "kernels" really read and write it, after they were launched, in the order of their
// launches. It is stricter than a driver: what NVIDIA leaves undefined ends the process with a line that says what was
// wrong.
//
//   FATHOM_STANDIN_GPUS    the GPUs, as for the stand-in of NVML: gpu UUID name bytes, tabs between fields
//   CUDA_VISIBLE_DEVICES   which of them the program may see, as with NVIDIA's
//   FATHOM_STANDIN_CARDS   folder with the books of each card's memory, for all processes; they end with their process
//   FATHOM_STANDIN_FAULTS  file that faults are written to, too
//   FATHOM_STANDIN_LEAKS   set: memory that a program has when it ends well is a fault
//   FATHOM_STANDIN_KERNEL_US  how long each kernel takes at least
//   FATHOM_STANDIN_CLOCK   `virtual`: nothing sleeps, and times are those of the virtual clock (virtual_clock.hpp);
//   `real`,
//                          as without it: kernels sleep, and times are those of the host
//   FATHOM_STANDIN_COSTS   of the virtual clock, where they are to be others, spaces between: call-ns=1000
//   launch-ns=5000
//                          copy-latency-ns=10000 copy-bytes-per-us=12000 memory-bytes-per-us=500000
//   FATHOM_STANDIN_NO_POISON  set: memory that nobody wrote is not filled with what no check expects
//
// Its functions stand in several files: this one, cuda_driver_events.cpp, cuda_driver_graphs.cpp (streams, captures,
// graphs), cuda_driver_mapping.cpp, cuda_driver_memory.cpp (other ways to allocate) and cuda_driver_work.cpp (modules,
// launches).
//
// Kernels, by name: fill(address, words, value) writes value + i; check(address, words, value) expects that; spin(any,
// any, microseconds) takes that long; meet(host address, any, count) adds 1 to a number of the host's memory, and waits
// until it is `count` at least.
#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <utility>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

void wait_for_all(OwnContext& context)
{
    {
        const std::scoped_lock lock(driver().mutex);
        charge_call();
        move_program_to(context, all_done_at(context));
    }
    wait_for_kernels(&context);
}

/// In the order of the legacy stream; the program waits for it.
void charge_copy(OwnContext& context, std::size_t bytes)
{
    const std::scoped_lock lock(driver().mutex);
    charge_call();
    move_program_to(context, put_work(context, nullptr, Engine::kCopy, copy_ns(bytes)));
}

/// The program does not wait for it, as with NVIDIA's.
void charge_memset(OwnContext& context, std::size_t bytes)
{
    const std::scoped_lock lock(driver().mutex);
    charge_call();
    put_work(context, nullptr, Engine::kCompute, memory_ns(bytes));
}

} // namespace
} // namespace fathom::standin

#pragma GCC visibility push(default)
extern "C" {

Status cuInit(unsigned flags)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    if (flags != 0) return kInvalidValue;
    if (!one.is_started) read_gpus(one);
    if (!one.is_started) watch_for_leaks();
    one.is_started = true;
    return one.gpus.empty() ? 100 : kSuccess; // CUDA_ERROR_NO_DEVICE
}

Status cuDriverGetVersion(int* version)
{
    *version = 13000;
    return kSuccess;
}

Status cuDeviceGetCount(int* count)
{
    *count = static_cast<int>(driver().gpus.size());
    return kSuccess;
}

Status cuDeviceGet(Device* device, int ordinal)
{
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= driver().gpus.size()) return 101;
    *device = ordinal;
    return kSuccess;
}

Status cuDeviceGetUuid_v2(Uuid* uuid, Device device)
{
    std::string digits;
    for (const char c : driver().gpus.at(static_cast<std::size_t>(device)).id.substr(4)) {
        if (c != '-') digits += c;
    }
    digits.resize(32, '0');
    for (std::size_t i = 0; i < 16; ++i)
        uuid->bytes[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    return kSuccess;
}

Status cuDeviceTotalMem_v2(std::size_t* bytes, Device device)
{
    *bytes = static_cast<std::size_t>(driver().gpus.at(static_cast<std::size_t>(device)).bytes);
    return kSuccess;
}

Status cuCtxCreate_v2(Context* context, unsigned /*flags*/, Device device)
{
    Driver& one = driver();
    if (!one.is_started) return kNotInitialized;
    const std::scoped_lock lock(one.mutex);
    auto* const made = new OwnContext{device, 0};
    come_to(*made);
    one.contexts.insert(made);
    contexts_of_thread().push_back(made);
    *context = made;
    if (!one.has_worker) {
        one.has_worker = true;
        std::thread(work).detach();
    }
    return kSuccess;
}

Status cuCtxDestroy_v2(Context context)
{
    wait_for_kernels();
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    auto* const own = static_cast<OwnContext*>(context);
    if (!one.contexts.contains(own)) fault("a context that is none is destroyed");
    for (auto it = one.blocks.begin(); it != one.blocks.end();) {
        const auto block = it++;
        const bool is_pools = block->second.of == BlockOf::kPool || block->second.of == BlockOf::kHost;
        if (block->second.context == own && !is_pools) drop_block(block);
    }
    std::erase_if(one.captures, [&](const auto& entry) { return entry.second.context == own; });
    std::erase_if(one.events, [&](const auto& entry) { return entry.second.context == own; });
    std::erase_if(one.peers, [&](const auto& pair) { return pair.first == own || pair.second == own; });
    one.contexts.erase(own);
    std::erase(contexts_of_thread(), own);
    return kSuccess;
}

Status cuDevicePrimaryCtxRetain(Context* context, Device device)
{
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    if (gpu.primary == nullptr) {
        Context made = nullptr;
        if (const Status status = cuCtxCreate_v2(&made, 0, device); status != kSuccess) return status;
        contexts_of_thread().pop_back(); // it is not made current
        gpu.primary = static_cast<OwnContext*>(made);
    }
    ++gpu.primary_uses;
    *context = gpu.primary;
    return kSuccess;
}

Status cuDevicePrimaryCtxReset_v2(Device device)
{
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    OwnContext* const ended = std::exchange(gpu.primary, nullptr);
    return ended == nullptr ? kSuccess : cuCtxDestroy_v2(ended);
}

Status cuDevicePrimaryCtxRelease_v2(Device device)
{
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    if (gpu.primary_uses == 0) fault("a primary context is released that nobody has");
    return --gpu.primary_uses == 0 ? cuDevicePrimaryCtxReset_v2(device) : kSuccess;
}

Status cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* is_active)
{
    *flags = 0;
    *is_active = driver().gpus.at(static_cast<std::size_t>(device)).primary == nullptr ? 0 : 1;
    return kSuccess;
}

Status cuCtxGetCurrent(Context* context)
{
    *context = current_context();
    return kSuccess;
}

Status cuCtxSetCurrent(Context context)
{
    std::vector<OwnContext*>& contexts = contexts_of_thread();
    if (!contexts.empty()) contexts.pop_back();
    if (context != nullptr) contexts.push_back(static_cast<OwnContext*>(context));
    return kSuccess;
}

Status cuCtxPushCurrent_v2(Context context)
{
    const std::scoped_lock lock(driver().mutex);
    if (!driver().contexts.contains(static_cast<OwnContext*>(context))) return kInvalidContext;
    contexts_of_thread().push_back(static_cast<OwnContext*>(context));
    return kSuccess;
}

Status cuCtxPopCurrent_v2(Context* context)
{
    std::vector<OwnContext*>& contexts = contexts_of_thread();
    if (contexts.empty()) return kInvalidContext;
    *context = contexts.back();
    contexts.pop_back();
    return kSuccess;
}

/// All GPUs can reach all others' memory here.
Status cuCtxEnablePeerAccess(Context peer, unsigned flags)
{
    CHECK_CONTEXT;
    auto* const other = static_cast<OwnContext*>(peer);
    const std::scoped_lock lock(driver().mutex);
    if (flags != 0) return kInvalidValue;
    if (!driver().contexts.contains(other)) return kInvalidContext;
    if (other->device == context->device) return 101;                       // CUDA_ERROR_INVALID_DEVICE
    return driver().peers.insert({context, other}).second ? kSuccess : 704; // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
}

Status cuCtxGetDevice(Device* device)
{
    CHECK_CONTEXT;
    *device = context->device;
    return kSuccess;
}

Status cuCtxSynchronize()
{
    CHECK_CONTEXT;
    REFUSE_IN_CAPTURE(refuse_waiting_for(context));
    wait_for_all(*context);
    return kSuccess;
}

Status cuMemAlloc_v2(Address* address, std::size_t bytes)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    if (address == nullptr || bytes == 0) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    return take_block(address, bytes, BlockOf::kProgram);
}

Status cuMemFree_v2(Address address)
{
    CHECK_CONTEXT;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    wait_for_all(*context);
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto found = one.blocks.find(address);
    if (found == one.blocks.end()) fault("memory is released that is not allocated, or was released before");
    if (found->second.of == BlockOf::kArray || found->second.of == BlockOf::kModule) return kInvalidValue;
    if (found->second.context->device != context->device) fault("memory of another GPU's context is released");
    drop_block(found);
    return kSuccess;
}

Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total)
{
    CHECK_CONTEXT;
    const std::scoped_lock lock(driver().mutex);
    Gpu& gpu = driver().gpus[static_cast<std::size_t>(context->device)];
    (void)gpu.books->take(0, gpu.bytes);
    *total = static_cast<std::size_t>(gpu.bytes);
    *free = static_cast<std::size_t>(gpu.bytes - gpu.books->used());
    return kSuccess;
}

Status cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address address)
{
    const std::scoped_lock lock(driver().mutex);
    auto block = driver().blocks.upper_bound(address);
    if (block == driver().blocks.begin()) return kNotFound;
    --block;
    if (address >= block->first + block->second.bytes) return kNotFound;
    *base = block->first;
    *bytes = block->second.bytes;
    return kSuccess;
}

Status cuIpcGetMemHandle(void* /*handle*/, Address address)
{
    const std::scoped_lock lock(driver().mutex);
    return driver().blocks.contains(address) ? kSuccess : kInvalidValue;
}

Status cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes)
{
    CHECK_CONTEXT;
    REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    charge_copy(*context, bytes);
    wait_for_kernels();
    require_mapped(to, bytes, "cuMemcpyHtoD");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
}

Status cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes)
{
    CHECK_CONTEXT;
    REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    charge_copy(*context, bytes);
    wait_for_kernels();
    require_mapped(from, bytes, "cuMemcpyDtoH");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
}

Status cuMemsetD32_v2(Address to, unsigned value, std::size_t count)
{
    CHECK_CONTEXT;
    REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    charge_memset(*context, count * 4);
    wait_for_kernels();
    require_mapped(to, count * 4, "cuMemsetD32");
    std::fill_n(reinterpret_cast<unsigned*>(to), count, value);
    return kSuccess;
}

/// Does nothing: the cost of a call alone.
Status cuMemPrefetchAsync(Address /*address*/, std::size_t /*bytes*/, Device /*device*/, Stream /*stream*/)
{
    return kSuccess;
}

Status cuGetProcAddress_v2(const char* symbol, void** function, int /*version*/, std::uint64_t /*flags*/, int* found)
{
    // As NVIDIA's: a name without version means the newest that the driver has.
    static void* const own = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (const char* version : {"_v2", ""}) {
        *function = ::dlvsym(own, (std::string(symbol) + version).c_str(), "FATHOM_STANDIN");
        if (*function != nullptr) break;
    }
    if (found != nullptr) *found = *function == nullptr ? 1 : 0;
    return *function == nullptr ? kNotFound : kSuccess;
}

Status cuGetProcAddress_v2_ptsz(const char* symbol, void** function, int version, std::uint64_t flags, int* found)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, found);
}

Status cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

} // extern "C"
#pragma GCC visibility pop
