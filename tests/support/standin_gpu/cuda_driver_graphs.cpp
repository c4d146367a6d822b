// The stand-in driver's streams, their capture, and graphs. What NVIDIA forbids during a capture is refused, and ends
// the captures that it would disturb: CUDA Programming Guide, "Stream capture", and cuThreadExchangeStreamCaptureMode.
#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <algorithm>
#include <sys/mman.h>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

const char* const kAllocateNode = "allocate in a graph";
const char* const kFreeNode = "free in a graph";

int& mode_of_thread()
{
    thread_local int mode = kCaptureGlobal;
    return mode;
}

/// With the mutex held.
template <class Disturbed>
Status refuse_where(Status status, Disturbed is_disturbed)
{
    Status result = kSuccess;
    for (auto& [stream, capture] : driver().captures) {
        if (!is_disturbed(capture)) continue;
        capture.is_invalidated = true;
        result = status;
    }
    return result;
}

std::int64_t bytes_of(const OwnGraph& graph)
{
    std::size_t bytes = 0;
    for (const auto& [address, of_one] : graph.allocations)
        bytes += rounded_up(of_one, kPiece);
    return static_cast<std::int64_t>(bytes);
}

std::shared_ptr<OwnGraph> find(const std::map<void*, std::shared_ptr<OwnGraph>>& all, void* one)
{
    const auto found = all.find(one);
    if (found == all.end()) fault("a graph is used that is none, or was destroyed");
    return found->second;
}

Status instantiate(GraphExec* exec, Graph graph)
{
    const std::scoped_lock lock(driver().mutex);
    const std::shared_ptr<OwnGraph> own = find(driver().graphs, graph);
    // With memory of its own, it may be there once.
    if (!own->allocations.empty() && own->is_instantiated) return kNotSupported;
    own->is_instantiated = true;
    *exec = new char;
    driver().execs[*exec] = own;
    return kSuccess;
}

/// The memory of all graphs that have been launched, which a card keeps until it is trimmed.
std::int64_t graph_memory(Device device)
{
    std::int64_t bytes = driver().gpus[static_cast<std::size_t>(device)].unused_graph_bytes;
    std::set<OwnGraph*> seen;
    for (const auto* all : {&driver().graphs, &driver().execs}) {
        for (const auto& [name, graph] : *all) {
            if (graph->has_memory && graph->context->device == device && seen.insert(graph.get()).second)
                bytes += bytes_of(*graph);
        }
    }
    return bytes;
}

/// Its memory stays with the card.
void end(std::map<void*, std::shared_ptr<OwnGraph>>& all, void* one)
{
    const std::shared_ptr<OwnGraph> graph = find(all, one);
    all.erase(one);
    if (graph.use_count() == 1 && graph->has_memory)
        driver().gpus[static_cast<std::size_t>(graph->context->device)].unused_graph_bytes += bytes_of(*graph);
}

} // namespace

Status refuse_waiting_for(OwnContext* context)
{
    const std::scoped_lock lock(driver().mutex);
    return refuse_where(kCaptureUnsupported, [&](const Capture& capture) { return capture.context == context; });
}

Status refuse_legacy_stream(OwnContext* context)
{
    const std::scoped_lock lock(driver().mutex);
    return refuse_where(kCaptureImplicit,
                        [&](const Capture& capture) { return capture.context == context && capture.is_blocking; });
}

Status refuse_unsafe()
{
    const int mode = mode_of_thread();
    if (mode == kCaptureRelaxed) return kSuccess;
    const std::scoped_lock lock(driver().mutex);
    return refuse_where(kCaptureUnsupported, [&](const Capture& capture) {
        if (capture.thread == std::this_thread::get_id()) return capture.mode != kCaptureRelaxed;
        return mode == kCaptureGlobal && capture.mode == kCaptureGlobal;
    });
}

Capture* capture_of(Stream stream)
{
    const auto found = driver().captures.find(static_cast<OwnStream*>(stream));
    return found == driver().captures.end() ? nullptr : &found->second;
}

Status launch_on(Stream stream, const Launch& launch)
{
    CHECK_CONTEXT;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    auto* const own = static_cast<OwnStream*>(stream);
    if (own != nullptr && !one.streams.contains(own)) fault("a stream is used that is none");
    if (Capture* const capture = capture_of(stream)) {
        if (capture->is_invalidated) return kCaptureInvalidated;
        capture->graph->nodes.push_back(launch);
        return kSuccess;
    }
    if (launch.engine) put_work(*context, own, *launch.engine, launch.cost_ns);
    one.queue.push_back(launch);
    one.queue.back().stream = own;
    one.queue.back().context = context;
    one.queue_changed.notify_all();
    return kSuccess;
}

Address add_allocation(OwnGraph& graph, std::size_t bytes)
{
    const std::size_t reserved = rounded_up(bytes, kPiece);
    void* const memory = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fault("the host has no addresses");
    const auto address = reinterpret_cast<Address>(memory);
    graph.allocations[address] = bytes;
    graph.context = current_context();
    graph.nodes.push_back({kAllocateNode, {address, bytes, reinterpret_cast<std::uintptr_t>(graph.context)}});
    return address;
}

bool add_free(OwnGraph& graph, Address address)
{
    if (!graph.allocations.contains(address)) return false;
    graph.nodes.push_back({kFreeNode, {address, 0, 0}});
    return true;
}

bool run_memory_node(const Launch& launch)
{
    const auto [address, bytes, context] = launch.arguments;
    if (launch.kernel != kAllocateNode && launch.kernel != kFreeNode) return false;
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().blocks.find(address);
    if (launch.kernel == kFreeNode) {
        if (found == driver().blocks.end()) fault("a graph frees what is not allocated");
        drop_block(found);
        return true;
    }
    if (found != driver().blocks.end()) fault("a graph allocates what was not freed since its last launch");
    auto* const memory = reinterpret_cast<void*>(address);
    if (::mprotect(memory, rounded_up(bytes, kPiece), PROT_READ | PROT_WRITE) != 0) fault("cannot give access");
    poison(memory, bytes);
    auto* const own = reinterpret_cast<OwnContext*>(context);
    driver().blocks[address] = {bytes, 0, own, BlockOf::kGraph};
    ++own->blocks;
    return true;
}

} // namespace fathom::standin

#pragma GCC visibility push(default)
extern "C" {

Status cuStreamCreate(Stream* stream, unsigned flags)
{
    CHECK_CONTEXT;
    if (flags > 1) return kInvalidValue; // 1: CU_STREAM_NON_BLOCKING
    const std::scoped_lock lock(driver().mutex);
    auto* const made = new OwnStream{context, flags == 0, 0};
    driver().streams.insert(made);
    *stream = made;
    return kSuccess;
}

Status cuStreamDestroy_v2(Stream stream)
{
    const std::scoped_lock lock(driver().mutex);
    auto* const own = static_cast<OwnStream*>(stream);
    if (driver().streams.erase(own) == 0) fault("a stream is destroyed that is none");
    own->context->gone_done_ns = std::max(own->context->gone_done_ns, own->done_ns);
    driver().captures.erase(own);
    delete own;
    return kSuccess;
}

Status cuStreamSynchronize(Stream stream)
{
    CHECK_CONTEXT;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    {
        const std::scoped_lock lock(driver().mutex);
        if (Capture* const capture = capture_of(stream)) {
            capture->is_invalidated = true;
            return kCaptureUnsupported;
        }
        auto* const own = static_cast<OwnStream*>(stream);
        if (own != nullptr && !driver().streams.contains(own)) fault("a stream is waited for that is none");
        charge_call();
        move_program_to(*context, done_at(*context, own));
    }
    wait_for_kernels();
    return kSuccess;
}

Status cuStreamBeginCapture_v2(Stream stream, int mode)
{
    CHECK_CONTEXT;
    (void)context;
    if (mode < kCaptureGlobal || mode > kCaptureRelaxed) return kInvalidValue;
    if (stream == nullptr) return kCaptureUnsupported;
    const std::scoped_lock lock(driver().mutex);
    if (capture_of(stream) != nullptr) return kIllegalState;
    auto* const own = static_cast<OwnStream*>(stream);
    if (!driver().streams.contains(own)) fault("a stream is captured that is none");
    Capture capture{mode, std::this_thread::get_id(), own->context, own->is_blocking, false, {}, nullptr};
    capture.graph = std::make_shared<OwnGraph>();
    capture.name = new char;
    driver().graphs[capture.name] = capture.graph;
    driver().captures[own] = capture;
    return kSuccess;
}

Status cuStreamEndCapture(Stream stream, Graph* graph)
{
    const std::scoped_lock lock(driver().mutex);
    Capture* const capture = capture_of(stream);
    if (capture == nullptr) return kIllegalState;
    if (capture->mode != kCaptureRelaxed && capture->thread != std::this_thread::get_id()) return kCaptureWrongThread;
    const Capture ended = *capture;
    driver().captures.erase(static_cast<OwnStream*>(stream));
    *graph = ended.is_invalidated ? nullptr : ended.name;
    if (ended.is_invalidated) driver().graphs.erase(ended.name);
    return ended.is_invalidated ? kCaptureInvalidated : kSuccess;
}

Status cuStreamIsCapturing(Stream stream, int* state)
{
    const std::scoped_lock lock(driver().mutex);
    if (stream == nullptr) {
        for (const auto& [other, capture] : driver().captures) {
            if (capture.is_blocking && capture.context == current_context()) return kCaptureImplicit;
        }
    }
    const Capture* const capture = capture_of(stream);
    *state = capture == nullptr ? kCaptureNone : capture->is_invalidated ? kCaptureIsInvalidated : kCaptureActive;
    return kSuccess;
}

Status cuStreamGetCaptureInfo_v2(Stream stream, int* state, std::uint64_t* /*id*/, Graph* graph,
                                 const GraphNode** /*dependencies*/, std::size_t* /*count*/)
{
    const Status status = cuStreamIsCapturing(stream, state);
    if (status != kSuccess || *state != kCaptureActive) return status;
    const std::scoped_lock lock(driver().mutex);
    const Capture* const capture = capture_of(stream);
    if (capture != nullptr && graph != nullptr) *graph = capture->name;
    return kSuccess;
}

Status cuThreadExchangeStreamCaptureMode(int* mode)
{
    if (*mode < kCaptureGlobal || *mode > kCaptureRelaxed) return kInvalidValue;
    std::swap(*mode, mode_of_thread());
    return kSuccess;
}

Status cuGraphCreate(Graph* graph, unsigned flags)
{
    if (flags != 0) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    *graph = new char;
    driver().graphs[*graph] = std::make_shared<OwnGraph>();
    return kSuccess;
}

Status cuGraphAddMemAllocNode(GraphNode* node, Graph graph, const GraphNode* /*dependencies*/, std::size_t /*count*/,
                              MemAllocNodeParameters* parameters)
{
    CHECK_CONTEXT;
    const std::scoped_lock lock(driver().mutex);
    if (parameters->bytes == 0 || parameters->location.type != kLocationDevice ||
        parameters->location.id != context->device)
        return kInvalidValue;
    parameters->address = add_allocation(*find(driver().graphs, graph), parameters->bytes);
    *node = reinterpret_cast<GraphNode>(parameters->address);
    return kSuccess;
}

Status cuGraphAddMemFreeNode(GraphNode* node, Graph graph, const GraphNode* /*dependencies*/, std::size_t /*count*/,
                             Address address)
{
    const std::scoped_lock lock(driver().mutex);
    if (!add_free(*find(driver().graphs, graph), address)) return kInvalidValue;
    *node = reinterpret_cast<GraphNode>(address + 1);
    return kSuccess;
}

Status cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long /*flags*/)
{
    return instantiate(exec, graph);
}

Status cuGraphLaunch(GraphExec exec, Stream stream)
{
    CHECK_CONTEXT;
    std::shared_ptr<OwnGraph> graph;
    {
        const std::scoped_lock lock(driver().mutex);
        graph = find(driver().execs, exec);
        charge_launch(); // one, however many nodes
        Gpu& gpu = driver().gpus[static_cast<std::size_t>(context->device)];
        const std::int64_t more = bytes_of(*graph) - gpu.unused_graph_bytes;
        if (!graph->has_memory && !graph->allocations.empty()) {
            if (more > 0 && !gpu.books->take(more, gpu.bytes)) return kOutOfMemory;
            gpu.unused_graph_bytes = more > 0 ? 0 : -more;
            graph->has_memory = true;
        }
    }
    for (const Launch& node : graph->nodes) {
        if (const Status status = launch_on(stream, node); status != kSuccess) return status;
    }
    return kSuccess;
}

Status cuGraphExecDestroy(GraphExec exec)
{
    wait_for_kernels();
    const std::scoped_lock lock(driver().mutex);
    find(driver().execs, exec)->is_instantiated = false;
    end(driver().execs, exec);
    return kSuccess;
}

Status cuGraphDestroy(Graph graph)
{
    const std::scoped_lock lock(driver().mutex);
    end(driver().graphs, graph);
    return kSuccess;
}

/// CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT alone.
Status cuDeviceGetGraphMemAttribute(Device device, int attribute, void* value)
{
    if (attribute != 2) return kNotSupported;
    const std::scoped_lock lock(driver().mutex);
    *static_cast<std::uint64_t*>(value) = static_cast<std::uint64_t>(graph_memory(device));
    return kSuccess;
}

Status cuDeviceGraphMemTrim(Device device)
{
    wait_for_kernels();
    const std::scoped_lock lock(driver().mutex);
    Gpu& gpu = driver().gpus.at(static_cast<std::size_t>(device));
    for (const auto& [address, block] : driver().blocks) {
        if (block.of == BlockOf::kGraph && block.context->device == device) return kSuccess; // in use
    }
    (void)gpu.books->take(-graph_memory(device), gpu.bytes);
    gpu.unused_graph_bytes = 0;
    for (const auto* all : {&driver().graphs, &driver().execs}) {
        for (const auto& [name, graph] : *all) {
            if (graph->context != nullptr && graph->context->device == device) graph->has_memory = false;
        }
    }
    return kSuccess;
}

} // extern "C"
#pragma GCC visibility pop
