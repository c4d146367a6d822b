// The ways of driver_calls to allocate, to launch, and to load modules.
#include "tests/agent/gpu/driver_calls.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <unistd.h>

using namespace fathom::gpu::cuda;

extern "C" {
Init cuInit;
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
MemAllocPitch cuMemAllocPitch_v2;
MemAllocManaged cuMemAllocManaged;
MemAllocAsync cuMemAllocAsync;
MemAllocFromPoolAsync cuMemAllocFromPoolAsync;
MemFreeAsync cuMemFreeAsync;
IpcGetMemHandle cuIpcGetMemHandle;
Status cuDeviceGetDefaultMemPool(void** pool, Device device);
ArrayCreate cuArrayCreate_v2;
Array3dCreate cuArray3DCreate_v2;
ArrayDestroy cuArrayDestroy;
MipmappedArrayCreate cuMipmappedArrayCreate;
ArrayDestroy cuMipmappedArrayDestroy;
ModuleLoadData cuModuleLoadData;
ModuleUnload cuModuleUnload;
ModuleGetGlobal cuModuleGetGlobal_v2;
LibraryLoad cuLibraryLoadData;
ModuleUnload cuLibraryUnload;
ModuleGetGlobal cuLibraryGetGlobal;
LaunchKernelEx cuLaunchKernelEx;
LaunchCooperativeKernel cuLaunchCooperativeKernel;
GraphCreate cuGraphCreate;
GraphInstantiateWithFlags cuGraphInstantiateWithFlags;
GraphLaunch cuGraphLaunch;
GraphExecDestroy cuGraphExecDestroy;
GraphDestroy cuGraphDestroy;
}

namespace driver_calls {
namespace {

constexpr int kFloat = 0x20; ///< CU_AD_FORMAT_FLOAT

/// What one way takes is not free as long as it is there.
void expect_counted(const std::string& name, std::size_t bytes, const std::function<std::function<Status()>()>& take)
{
    const std::size_t before = free_bytes();
    const std::function<Status()> give_back = take();
    require(free_bytes() == before - bytes,
            name + " takes " + std::to_string(before - free_bytes()) + " bytes of " + std::to_string(bytes));
    require(give_back(), name + " given back");
    require(free_bytes() == before, name + " is not given back");
}

void expect_arrays_counted()
{
    expect_counted("cuArrayCreate", kMiB, [] {
        Array array = nullptr;
        const ArrayDescription description{256, 256, kFloat, 4};
        require(cuArrayCreate_v2(&array, &description), "cuArrayCreate");
        return [array] { return cuArrayDestroy(array); };
    });
    expect_counted("cuArray3DCreate", kMiB, [] {
        Array array = nullptr;
        const Array3dDescription description{64, 64, 64, kFloat, 1, 0};
        require(cuArray3DCreate_v2(&array, &description), "cuArray3DCreate");
        return [array] { return cuArrayDestroy(array); };
    });
    expect_counted("cuMipmappedArrayCreate", kMiB + kMiB / 3, [] {
        Array array = nullptr;
        const Array3dDescription description{512, 512, 0, kFloat, 1, 0};
        require(cuMipmappedArrayCreate(&array, &description, 5), "cuMipmappedArrayCreate");
        return [array] { return cuMipmappedArrayDestroy(array); };
    });
}

} // namespace

/// Beside another program, so that what is free is what the books say.
void allocations()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    Stream stream = nullptr;
    require(cuStreamCreate(&stream, 0), "cuStreamCreate");
    expect_counted("cuMemAllocPitch", 4 * kMiB, [] {
        Address address = 0;
        std::size_t pitch = 0;
        require(cuMemAllocPitch_v2(&address, &pitch, 1000, 4096, 4), "cuMemAllocPitch");
        require(pitch == 1024, "the pitch is " + std::to_string(pitch));
        Address none = 0;
        require(cuMemAllocPitch_v2(&none, &pitch, 1000, 4096, 3) == kInvalidValue, "elements of 3 bytes");
        require(pitch == 1024, "the pitch of what is refused");
        launch(kernel("fill"), address, pitch * 4096, 3, nullptr); // the last row, too
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        return [address] {
            release(address);
            return kSuccess;
        };
    });
    expect_counted("cuMemAllocManaged", 3 * kMiB, [] {
        Address address = 0;
        require(cuMemAllocManaged(&address, 3 * kMiB, 1), "cuMemAllocManaged");
        return [address] {
            release(address);
            return kSuccess;
        };
    });
    expect_counted("cuMemAllocAsync", 4 * kMiB, [stream] {
        Address address = 0;
        require(cuMemAllocAsync(&address, 4 * kMiB, stream), "cuMemAllocAsync");
        launch(kernel("fill"), address, 4 * kMiB, 3, stream);
        return [address, stream] { return cuMemFreeAsync(address, stream); };
    });
    expect_counted("cuMemAllocFromPoolAsync", 4 * kMiB, [stream] {
        void* pool = nullptr;
        Address address = 0;
        require(cuDeviceGetDefaultMemPool(&pool, 0), "cuDeviceGetDefaultMemPool");
        require(cuMemAllocFromPoolAsync(&address, 4 * kMiB, pool, stream), "cuMemAllocFromPoolAsync");
        return [address, stream] { return cuMemFreeAsync(address, stream); };
    });
    expect_arrays_counted();
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(own);
}

/// Of memory that is mapped in pieces the library has none to give, at whatever address of a block; what is no memory
/// the driver refuses. A refusal changes nothing.
void handles_for_others()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    std::array<char, 64> handle{}; // as CUipcMemHandle
    require(cuIpcGetMemHandle(handle.data(), own) == kNotSupported, "a handle of the block's beginning");
    require(cuIpcGetMemHandle(handle.data(), own + kMiB) == kNotSupported, "a handle of the block's middle");
    require(cuIpcGetMemHandle(handle.data(), 64) == kInvalidValue, "a handle of no memory");
    require(handle == std::array<char, 64>{}, "what is refused writes a handle");
    launch(kernel("fill"), own, 2 * kMiB, 5, nullptr);
    launch(kernel("check"), own, 2 * kMiB, 5, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    release(own);
    require(cuIpcGetMemHandle(handle.data(), own) == kInvalidValue, "a handle of memory that was released");
}

/// A module with a variable of 3 MiB.
void modules()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    void* module = nullptr;
    require(cuModuleLoadData(&module, "table 3145728"), "cuModuleLoadData");
    pause("loaded");
    Address address = 0;
    std::size_t bytes = 0;
    for (int i = 0; i < 2; ++i)
        require(cuModuleGetGlobal_v2(&address, &bytes, module, "table"), "cuModuleGetGlobal");
    require(bytes == 3 * kMiB && cuModuleGetGlobal_v2(nullptr, &bytes, module, "table") == kSuccess, "its size");
    require(cuModuleGetGlobal_v2(&address, &bytes, module, "none") == kNotFound, "a variable that is none");
    pause("asked");
    require(cuModuleUnload(module), "cuModuleUnload");
    pause("unloaded");
    release(own);
}

void libraries()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    void* library = nullptr;
    require(cuLibraryLoadData(&library, "table 3145728", nullptr, nullptr, 0, nullptr, nullptr, 0),
            "cuLibraryLoadData");
    Address address = 0;
    require(cuLibraryGetGlobal(&address, nullptr, library, "table"), "cuLibraryGetGlobal");
    pause("asked");
    require(cuLibraryUnload(library), "cuLibraryUnload");
    pause("unloaded");
    release(own);
}

/// More than it was promised.
void grows()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    wait_for("before it grows");
    std::printf("asks\n");
    std::fflush(stdout);
    const Address more = allocate(12 * kMiB);
    release(more);
    release(own);
}

/// More than the manager may leave unread in the socket.
void many_iterations()
{
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    require(end != nullptr, "the library is not preloaded");
    make_context();
    const Address own = allocate(2 * kMiB);
    for (int i = 0; i < 600; ++i)
        end();
    wait_for("ended 600");
    for (int i = 0; i < 5000; ++i)
        end();
    release(own);
}

/// A block of a kind that died in each iteration until one is kept: first it is taken for temporary.
void stays()
{
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    require(end != nullptr, "the library is not preloaded");
    make_context();
    for (int i = 0; i < 3; ++i) {
        release(allocate(4 * kMiB));
        end();
    }
    const Address kept = allocate(4 * kMiB);
    launch(kernel("fill"), kept, 4 * kMiB, 77, nullptr);
    pause("outlives one");
    pause("outlives two");
    void* const check = kernel("check");
    for (int i = 0; i < 400; ++i) {
        launch(check, kept, 4 * kMiB, 77, nullptr);
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        end();
        ::usleep(5000);
    }
    pause("checked");
    release(kept);
    pause("released");
}

/// Of 5 s.
void long_kernel()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    launch(kernel("spin"), own, 2 * kMiB, 5'000'000, nullptr);
    std::printf("runs\n");
    std::fflush(stdout);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    release(own);
}

namespace {

/// The test looks that the launch waits as long as another program has the turn.
template <class Launch>
void launch_with_turn(const std::string& name, Launch launch_it)
{
    make_context();
    Address address = allocate(2 * kMiB);
    std::uint64_t words = 2 * kMiB / 8;
    std::uint64_t value = 11;
    std::array<void*, 3> parameters{&address, &words, &value};
    void* const fill = kernel("fill");
    std::printf("%s begins\n", name.c_str());
    std::fflush(stdout);
    launch_it(fill, parameters.data());
    std::printf("%s has launched\n", name.c_str());
    std::fflush(stdout);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    release(address);
}

} // namespace

void launch_ex()
{
    launch_with_turn("launch_ex", [](void* function, void** parameters) {
        const LaunchConfiguration how{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 0};
        require(cuLaunchKernelEx(&how, function, parameters, nullptr), "cuLaunchKernelEx");
    });
}

void launch_cooperative()
{
    launch_with_turn("launch_cooperative", [](void* function, void** parameters) {
        require(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters),
                "cuLaunchCooperativeKernel");
    });
}

void launch_graph()
{
    launch_with_turn("launch_graph", [](void*, void**) {
        Graph graph = nullptr;
        GraphExec exec = nullptr;
        require(cuGraphCreate(&graph, 0), "cuGraphCreate");
        require(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
        require(cuGraphLaunch(exec, nullptr), "cuGraphLaunch");
        require(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
        require(cuGraphDestroy(graph), "cuGraphDestroy");
    });
}

} // namespace driver_calls
