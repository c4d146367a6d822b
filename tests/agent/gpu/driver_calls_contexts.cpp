// The ways of driver_calls with several contexts, and to release memory that work still uses.
#include "agent/gpu/interposer/fathom_gpu.h"
#include "tests/agent/gpu/driver_calls.hpp"

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <string>

using namespace fathom::gpu::cuda;

extern "C" {
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
CtxDestroy cuCtxDestroy_v2;
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
Status cuStreamQuery(Stream stream);
Status cuCtxSetCurrent(Context context);
CtxEnablePeerAccess cuCtxEnablePeerAccess;
MemPoolSetAccess cuMemPoolSetAccess;
MemAllocAsync cuMemAllocAsync;
MemAllocFromPoolAsync cuMemAllocFromPoolAsync;
MemFreeAsync cuMemFreeAsync;
MemPoolCreate cuMemPoolCreate;
MemPoolDestroy cuMemPoolDestroy;
IpcGetMemHandle cuIpcGetMemHandle;
Status cuDeviceGetDefaultMemPool(void** pool, Device device);
Status cuDeviceSetMemPool(Device device, void* pool);
}

namespace driver_calls {
namespace {

Context make_current_context(Device device)
{
    Context context = nullptr;
    require(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
    return context;
}

void make_current(Context context)
{
    require(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/// Written by a kernel in that context, which is current then.
void fill_in(Context context, Address address)
{
    make_current(context);
    launch(kernel("fill"), address, 2 * kMiB, 3, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
}

/// cuMemAllocAsync, where the first GPU's current pool is for other processes. @param before  what is free.
void expect_current_pool_counted(void* pool, std::size_t before)
{
    require(cuDeviceSetMemPool(0, pool), "cuDeviceSetMemPool");
    Address of_current = 0;
    require(cuMemAllocAsync(&of_current, 4 * kMiB, nullptr), "cuMemAllocAsync");
    require(free_bytes() == before - 4 * kMiB, "memory of the current pool does not count");
    std::array<char, 64> handle{};
    require(cuIpcGetMemHandle(handle.data(), of_current), "memory of the current pool is mapped in pieces");
    require(cuMemFreeAsync(of_current, nullptr), "cuMemFreeAsync");
    require(free_bytes() == before, "memory of the current pool is not given back");
}

} // namespace

/// Two GPUs of one program that use each other's memory: what is there, what comes later, and what pools have.
void peers()
{
    const Context first = make_current_context(0);
    const Address before = allocate(2 * kMiB);
    const Context second = make_current_context(1);
    require(cuCtxEnablePeerAccess(first, 0), "cuCtxEnablePeerAccess");
    fill_in(second, before);
    make_current(first);
    const Address after = allocate(2 * kMiB);
    fill_in(second, after);

    void* pool = nullptr;
    const AccessDescription access{{kLocationDevice, 0}, kAccessReadWrite};
    require(cuDeviceGetDefaultMemPool(&pool, 1), "cuDeviceGetDefaultMemPool");
    require(cuMemPoolSetAccess(pool, &access, 1), "cuMemPoolSetAccess");
    Address pooled = 0;
    require(cuMemAllocAsync(&pooled, 2 * kMiB, nullptr), "cuMemAllocAsync");
    fill_in(first, pooled);

    release(after);
    release(before);
    make_current(second);
    require(cuMemFreeAsync(pooled, nullptr), "cuMemFreeAsync");
}

/// Beside another program, so that what is free is what the books say: pools whose memory the library cannot map.
void pools()
{
    const Context second = make_current_context(1);
    const Context first = make_current_context(0);
    const Address own = allocate(2 * kMiB);
    const std::size_t before = free_bytes();
    const auto allocate_from = [](void* pool) {
        Address address = 0;
        require(cuMemAllocFromPoolAsync(&address, 4 * kMiB, pool, nullptr), "cuMemAllocFromPoolAsync");
        return address;
    };

    MemPoolProperties properties{};
    properties.type = kAllocationPinned;
    properties.location = {kLocationHost, 0};
    void* pool = nullptr;
    require(cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate of the host");
    const Address of_host = allocate_from(pool);
    require(free_bytes() == before, "the host's memory counts as the GPU's");
    require(cuDeviceSetMemPool(0, pool) == kInvalidValue, "the host's pool as a GPU's current one");
    require(cuMemFreeAsync(of_host, nullptr), "cuMemFreeAsync");
    require(cuMemPoolDestroy(pool), "cuMemPoolDestroy");

    require(cuDeviceGetDefaultMemPool(&pool, 1), "cuDeviceGetDefaultMemPool");
    const Address of_second = allocate_from(pool);
    require(free_bytes() == before, "another GPU's memory counts as this one's");
    fill_in(second, of_second);
    make_current(first);
    require(cuMemFreeAsync(of_second, nullptr), "cuMemFreeAsync");

    properties.location = {kLocationDevice, 0};
    properties.handle_types = 1; // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    require(cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate for other processes");
    const Address for_others = allocate_from(pool);
    require(free_bytes() == before - 4 * kMiB, "memory for other processes does not count");
    std::array<char, 64> handle{};
    require(cuIpcGetMemHandle(handle.data(), for_others), "it is mapped in pieces");
    require(cuMemFreeAsync(for_others, nullptr), "cuMemFreeAsync");
    require(free_bytes() == before, "memory for other processes is not given back");
    expect_current_pool_counted(pool, before);
    require(cuMemPoolDestroy(pool), "cuMemPoolDestroy");
    release(own);
}

/// Of the second GPU, which has no context any longer then.
void pool_without_context()
{
    const Context second = make_current_context(1);
    const Context first = make_current_context(0);
    void* pool = nullptr;
    Address address = 0;
    require(cuDeviceGetDefaultMemPool(&pool, 1), "cuDeviceGetDefaultMemPool");
    require(cuMemAllocFromPoolAsync(&address, 4 * kMiB, pool, nullptr), "cuMemAllocFromPoolAsync");
    require(cuCtxDestroy_v2(second), "cuCtxDestroy of the second");
    make_current(first);
    pause("second ended");
    require(cuMemFreeAsync(address, nullptr), "cuMemFreeAsync");
    pause("released");
}

/// Temporary memory of one GPU, which is not copied when the turn ends with an iteration, and a kernel of the other GPU
/// that still writes it then.
void peer_with_the_turn()
{
    const Context first = make_current_context(0);
    const Context second = make_current_context(1);
    require(cuCtxEnablePeerAccess(first, 0), "cuCtxEnablePeerAccess");
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    require(end != nullptr, "the library is not preloaded");
    set_kind(FATHOM_GPU_TEMPORARY);
    make_current(first);
    std::printf("begins\n");
    std::fflush(stdout);
    bool is_over = false;
    for (int i = 0; !is_over && i < 500; ++i) {
        const Address address = allocate(2 * kMiB);
        make_current(second);
        launch(kernel("spin"), address, 2 * kMiB, 20'000, nullptr);
        launch(kernel("fill"), address, 2 * kMiB, 3, nullptr);
        is_over = end() == 1;
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        make_current(first);
        release(address);
    }
    require(is_over, "no turn ended with an iteration");
}

/// Of one GPU. What was allocated in a context ends with it, and nothing else.
void two_contexts()
{
    const Context first = make_current_context(0);
    (void)allocate(2 * kMiB);
    const Context second = make_current_context(0);
    const Address own = allocate(4 * kMiB);
    launch(kernel("fill"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxDestroy_v2(first), "cuCtxDestroy of the first");
    launch(kernel("check"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    pause("first ended");
    const Context third = make_current_context(0);
    (void)allocate(6 * kMiB);
    require(cuCtxDestroy_v2(third), "cuCtxDestroy of the third");
    const Address more = allocate(2 * kMiB);
    pause("third ended");
    launch(kernel("check"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    release(more);
    release(own);
    require(cuCtxDestroy_v2(second), "cuCtxDestroy of the second");
}

namespace {

/// Of this process, in the host's memory.
std::size_t resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    file >> all >> resident;
    return resident * 4096;
}

} // namespace

/// Of a program that has no iterations.
void many_releases()
{
    make_context();
    constexpr std::size_t kBytes = kMiB / 16;
    const Address neighbour = allocate(kBytes);
    const auto release_often = [] {
        for (int i = 0; i < 300'000; ++i)
            release(allocate(kBytes));
    };
    release_often();
    const std::size_t before = resident_bytes();
    release_often();
    const std::size_t after = resident_bytes();
    require(after < before + 6 * kMiB,
            "memory of the host grows by " + std::to_string((after - before) / kMiB) + " MiB");
    release(neighbour);
}

/// Small blocks share a piece of memory, so that nothing is unmapped here: the next block may be at the same address.
void released_in_use()
{
    make_context();
    constexpr std::size_t kBytes = kMiB / 16;
    const Address neighbour = allocate(kBytes);
    const Address own = allocate(kBytes);
    Stream stream = nullptr;
    require(cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
    launch(kernel("spin"), own, kBytes, 200'000, stream);
    launch(kernel("fill"), own, kBytes, 5, stream);
    release(own);
    require(cuStreamQuery(stream), "memory is released that a kernel will write");
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(neighbour);
}

} // namespace driver_calls
