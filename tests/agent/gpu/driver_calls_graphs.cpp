// The ways of driver_calls with streams that are captured into graphs.
#include "agent/gpu/interposer/fathom_gpu.h"
#include "tests/agent/gpu/driver_calls.hpp"

#include <dlfcn.h>

using namespace fathom::gpu::cuda;

extern "C" {
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
StreamSynchronize cuStreamSynchronize;
StreamBeginCapture2 cuStreamBeginCapture_v2;
StreamEndCapture cuStreamEndCapture;
ThreadExchangeStreamCaptureMode cuThreadExchangeStreamCaptureMode;
GraphInstantiateWithFlags cuGraphInstantiateWithFlags;
GraphLaunch cuGraphLaunch;
GraphExecDestroy cuGraphExecDestroy;
GraphDestroy cuGraphDestroy;
ModuleLoadData cuModuleLoadData;
ModuleGetFunction cuModuleGetFunction;
LaunchKernel cuLaunchKernel;
MemAllocAsync cuMemAllocAsync;
MemFreeAsync cuMemFreeAsync;
GraphCreate cuGraphCreate;
GraphAddMemAllocNode cuGraphAddMemAllocNode;
GraphAddMemFreeNode cuGraphAddMemFreeNode;
}

namespace driver_calls {

void* kernel(const char* name)
{
    static void* const module = [] {
        void* loaded = nullptr;
        require(cuModuleLoadData(&loaded, ""), "cuModuleLoadData");
        return loaded;
    }();
    void* function = nullptr;
    require(cuModuleGetFunction(&function, module, name), name);
    return function;
}

void launch(void* function, Address address, std::size_t bytes, std::uint64_t value, Stream stream)
{
    std::uint64_t words = bytes / 8;
    void* parameters[] = {&address, &words, &value};
    require(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

namespace {

Stream make_stream()
{
    Stream stream = nullptr;
    require(cuStreamCreate(&stream, 0), "cuStreamCreate");
    return stream;
}

Graph end_capture(Stream stream)
{
    Graph graph = nullptr;
    require(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    return graph;
}

int call_library(const char* name)
{
    auto* const function = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, name));
    require(function != nullptr, "the library is not preloaded");
    return function();
}

} // namespace

/// The turn is over in the middle of a capture: the graph has all that was captured, and the turn ends then.
void capture()
{
    make_context();
    void* const fill = kernel("fill");
    void* const check = kernel("check");
    set_kind(FATHOM_GPU_TEMPORARY);
    const std::size_t bytes = 8 * kMiB;
    const Address address = allocate(bytes);
    launch(fill, address, bytes, 7, nullptr);
    const Stream stream = make_stream();
    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal), "cuStreamBeginCapture");
    launch(check, address, bytes, 7, stream);
    wait_for("capturing");
    require(call_library("fathom_gpu_is_turn_over") == 0, "memory is to be let go of during a capture");
    require(call_library("fathom_gpu_iteration_end") == 0, "a captured iteration ends the turn");
    launch(fill, address, bytes, 9, stream);
    const Graph graph = end_capture(stream);
    wait_for("captured");
    GraphExec exec = nullptr;
    require(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    require(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");
    launch(check, address, bytes, 9, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    require(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    require(cuGraphDestroy(graph), "cuGraphDestroy");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(address);
}

/// Memory that is released during a capture is not waited for; a capture that fails is over, too.
void capture_that_fails()
{
    make_context();
    const Address first = allocate(4 * kMiB);
    const Address second = allocate(4 * kMiB);
    const Stream stream = make_stream();
    int mode = kCaptureRelaxed; // as frameworks do around what is forbidden else
    require(cuThreadExchangeStreamCaptureMode(&mode), "cuThreadExchangeStreamCaptureMode");
    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal), "cuStreamBeginCapture");
    launch(kernel("fill"), second, 4 * kMiB, 1, stream);
    release(first);
    require(cuGraphDestroy(end_capture(stream)), "cuGraphDestroy");
    pause("released");

    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal), "cuStreamBeginCapture");
    Graph graph = nullptr;
    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal) == kIllegalState, "a capture begins twice");
    require(cuCtxSynchronize() == kCaptureUnsupported, "a context is synchronized during a capture");
    require(cuStreamEndCapture(stream, &graph) == kCaptureInvalidated, "a capture survives a synchronization");
    release(second);
    pause("failed");

    require(cuStreamBeginCapture_v2(stream, kCaptureGlobal), "cuStreamBeginCapture");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    const Address third = allocate(2 * kMiB);
    pause("destroyed");
    release(third);
}

namespace {

Status add_allocation(Graph graph, std::size_t bytes, Address& address)
{
    MemAllocNodeParameters parameters{};
    parameters.type = kAllocationPinned;
    parameters.location = {kLocationDevice, 0};
    parameters.bytes = bytes;
    GraphNode node = nullptr;
    const Status status = cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters);
    address = parameters.address;
    return status;
}

Graph make_graph()
{
    Graph graph = nullptr;
    require(cuGraphCreate(&graph, 0), "cuGraphCreate");
    return graph;
}

} // namespace

/// Memory within graphs counts as long as they are there, and what the driver keeps of it is gone with them.
void graph_memory()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    const std::size_t free_before = free_bytes();
    const Stream stream = make_stream();
    void* const fill = kernel("fill");
    void* const check = kernel("check");
    require(cuStreamBeginCapture_v2(stream, kCaptureThreadLocal), "cuStreamBeginCapture");
    Address address = 0;
    require(cuMemAllocAsync(&address, 3 * kMiB, stream), "cuMemAllocAsync");
    launch(fill, address, 3 * kMiB, 5, stream);
    launch(check, address, 3 * kMiB, 5, stream);
    require(cuMemFreeAsync(address, stream), "cuMemFreeAsync");
    require(cuMemFreeAsync(own, stream) != kSuccess, "a graph frees what is not its own");
    const Graph graph = end_capture(stream);
    GraphExec exec = nullptr;
    require(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    require(cuGraphDestroy(graph), "cuGraphDestroy");
    for (int i = 0; i < 2; ++i)
        require(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");
    pause("launched");

    const Graph second = make_graph();
    require(add_allocation(second, 2 * kMiB, address), "cuGraphAddMemAllocNode");
    GraphNode node = nullptr;
    require(cuGraphAddMemFreeNode(&node, second, nullptr, 0, address), "cuGraphAddMemFreeNode");
    pause("added");
    require(cuGraphDestroy(second), "cuGraphDestroy");
    require(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    pause("destroyed");
    require(free_bytes() == free_before, "the driver keeps the memory of graphs that are gone");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(own);
}

/// Beside `holds`, on a card of 32 MiB.
void graph_memory_beside()
{
    make_context();
    const Address own = allocate(2 * kMiB);
    const std::size_t free_before = free_bytes();
    const Graph graph = make_graph();
    Address address = 0;
    require(add_allocation(graph, 28 * kMiB, address) == kOutOfMemory, "a graph is given more than there is");
    require(add_allocation(graph, 4 * kMiB, address), "cuGraphAddMemAllocNode");
    require(free_bytes() == free_before - 4 * kMiB, "the memory of a graph is said to be free");
    require(cuGraphDestroy(graph), "cuGraphDestroy");
    require(free_bytes() == free_before, "the memory of a graph that is gone is not free");
    release(own);
}

} // namespace driver_calls
