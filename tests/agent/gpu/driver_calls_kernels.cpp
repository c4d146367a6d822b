// The ways of driver_calls by which kernels are known: got by name in each way, launched in several shapes.
#include "agent/gpu/interposer/fathom_gpu.h"
#include "tests/agent/gpu/driver_calls.hpp"

#include <chrono>
#include <dlfcn.h>
#include <thread>

using namespace fathom::gpu::cuda;

extern "C" {
CtxSynchronize cuCtxSynchronize;
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
CtxDestroy cuCtxDestroy_v2;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
StreamBeginCapture2 cuStreamBeginCapture_v2;
StreamEndCapture cuStreamEndCapture;
GraphDestroy cuGraphDestroy;
LibraryLoad cuLibraryLoadData;
ModuleUnload cuLibraryUnload;
ModuleGetFunction cuLibraryGetKernel;
KernelGetFunction cuKernelGetFunction;
LaunchKernel cuLaunchKernel;
LaunchKernelEx cuLaunchKernelEx;
}

namespace driver_calls {
namespace {

void fill_with(void* function, unsigned blocks, Address address, Stream stream)
{
    std::uint64_t words = 1;
    std::uint64_t value = 7;
    void* parameters[] = {&address, &words, &value};
    require(cuLaunchKernel(function, blocks, 1, 1, 32, 2, 1, 64, stream, parameters, nullptr), "cuLaunchKernel");
}

/// For 2 ms each, by the stand-in's own clock.
void spin_often(void* function, int times)
{
    std::uint64_t nothing = 0;
    std::uint64_t us = 2000;
    void* parameters[] = {&nothing, &nothing, &us};
    const LaunchConfiguration how{3, 2, 1, 8, 1, 1, 0, nullptr, nullptr, 0};
    for (int i = 0; i < times; ++i)
        require(cuLaunchKernelEx(&how, function, parameters, nullptr), "cuLaunchKernelEx");
}

/// As frameworks do once in a step; what is known of kernels is told then, now and then.
void iterate_until(const std::string& name)
{
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    require(end != nullptr, "the library is not preloaded");
    while (!is_told(name)) {
        end();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

} // namespace

void kernels()
{
    make_context();
    const Address address = allocate(kMiB);
    void* const of_module = kernel("fill");
    for (int i = 0; i < 3; ++i)
        fill_with(of_module, 5, address, nullptr);
    fill_with(of_module, 6, address, nullptr);
    void* parameters[] = {nullptr, nullptr, nullptr};
    require(cuLaunchKernel(of_module, 0, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) != kSuccess,
            "a launch of no blocks is refused");
    void* library = nullptr;
    void* of_library = nullptr;
    void* function = nullptr;
    require(cuLibraryLoadData(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0), "cuLibraryLoadData");
    require(cuLibraryGetKernel(&of_library, library, "spin"), "cuLibraryGetKernel");
    require(cuKernelGetFunction(&function, of_library), "cuKernelGetFunction");
    spin_often(of_library, 2);
    spin_often(function, 3);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    require(cuLibraryUnload(library), "cuLibraryUnload");
    // What is captured does not run. The stand-in ends the program where an event is recorded meanwhile.
    Stream stream = nullptr;
    Graph graph = nullptr;
    require(cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal), "cuStreamBeginCapture");
    for (int i = 0; i < 16; ++i)
        fill_with(of_module, 5, address, stream);
    require(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    require(cuGraphDestroy(graph), "cuGraphDestroy");
    for (int i = 0; i < 2; ++i)
        fill_with(of_module, 5, address, stream);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    iterate_until("kernels");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(address);
}

/// Contexts that end while launches in them are timed: the stand-in ends the program where their events are asked then.
void kernels_of_contexts()
{
    auto* const set =
        reinterpret_cast<decltype(fathom_gpu_set_input_size)*>(::dlsym(RTLD_DEFAULT, "fathom_gpu_set_input_size"));
    require(set != nullptr, "the library is not preloaded");
    set(12.5);
    for (int round = 0; round < 3; ++round) {
        Context context = nullptr;
        require(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
        const Address address = allocate(kMiB);
        for (int i = 0; i < 8; ++i)
            fill_with(kernel("fill"), 5, address, nullptr);
        spin_often(kernel("spin"), 4);
        require(cuCtxDestroy_v2(context), "cuCtxDestroy");
    }
    make_context();
    const Address address = allocate(kMiB);
    fill_with(kernel("fill"), 5, address, nullptr);
    iterate_until("kernels");
    release(address);
}

/// A thread without a context tells of iterations while a launch is timed.
void kernels_without_context()
{
    make_context();
    const Address address = allocate(kMiB);
    void* const fill = kernel("fill");
    for (int i = 0; i < 3; ++i)
        fill_with(fill, 5, address, nullptr);
    std::thread(iterate_until, "told").join();
    for (int i = 0; i < 2; ++i)
        fill_with(fill, 5, address, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    iterate_until("kernels");
    release(address);
}

} // namespace driver_calls
