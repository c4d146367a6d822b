#pragma once

#include "agent/gpu/cuda_abi.hpp"
#include "tests/support/standin_gpu/card_books.hpp"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// What the functions of the stand-in driver share.
namespace fathom::standin {

using gpu::cuda::Address;
using gpu::cuda::Device;
using gpu::cuda::Event;
using gpu::cuda::MemoryHandle;

inline constexpr std::size_t kPiece = 2U << 20U; ///< bytes, of memory that is mapped

struct OwnContext;

struct Gpu {
    std::string id;
    std::int64_t bytes{};
    std::unique_ptr<CardBooks> books;
    OwnContext* primary{}; ///< context
    int primary_uses{};
    void* pool{};                      ///< the current one; null: the default
    std::int64_t unused_graph_bytes{}; ///< of graphs that are gone, kept for others
};

struct OwnContext {
    Device device{};
    std::size_t blocks{};
    // By the virtual clock:
    std::int64_t legacy_done_ns{}; ///< all that was put into the legacy stream
    std::int64_t gone_done_ns{};   ///< all that was put into streams that are destroyed
};

enum class BlockOf {
    kProgram, ///< by cuMemAlloc and the like: the program has to release it
    kArray,
    kHost,   ///< of the host's memory, from a pool
    kPool,   ///< from a pool that the program named: the pool's, which no context ends with
    kModule, ///< a variable; gone with its module
    kGraph,  ///< of an allocation node that has run, until a free node has
};

struct Block {
    std::size_t bytes{};
    std::size_t taken{}; ///< of the card's books; 0 of kGraph, whose graph has taken it
    OwnContext* context{};
    BlockOf of{};
};

struct Physical { ///< by cuMemCreate
    std::size_t bytes{};
    Device device{};
    int file = -1;
    std::size_t mapped{};     ///< times
    std::size_t references{}; ///< that the program has to let go of
    bool is_of_host{};
};

struct Mapping {
    std::size_t bytes{};
    MemoryHandle handle{};
    std::set<Device> devices; ///< that may read and write it
};

struct Kernel {
    std::string name;
    std::int64_t block_ns{}; ///< by the virtual clock, as its module says
    bool is_of_library{};    ///< CUkernel; else CUfunction
};

struct OwnModule {
    std::map<std::string, Address> variables;
    std::map<std::string, std::int64_t> block_ns; ///< of kernels
};

struct OwnStream {
    OwnContext* context{};
    bool is_blocking{};     ///< waits for the legacy stream, and the other way round
    std::int64_t done_ns{}; ///< all that was put there, by the virtual clock
};

struct Launch {
    std::string kernel;
    std::array<std::uint64_t, 3> arguments{};
    std::optional<Engine> engine{}; ///< none: it takes no time of the virtual clock
    std::int64_t cost_ns{};
    // In the queue: where it was put
    OwnStream* stream{};
    OwnContext* context{};
};

struct OwnEvent {
    OwnContext* context{};
    unsigned flags{};
    std::uint64_t recorded{}; ///< times
    std::uint64_t done{};     ///< the last of these that has been come to, where the clock is real
    std::int64_t at_ns{};     ///< by the virtual clock, or by the host's
};

struct OwnGraph {
    std::vector<Launch> nodes;
    std::map<Address, std::size_t> allocations;
    OwnContext* context{};
    bool is_instantiated{};
    bool has_memory{}; ///< of the card, since a launch
};

/// Of one stream; what is launched there becomes nodes.
struct Capture {
    int mode{};
    std::thread::id thread;
    OwnContext* context{};
    bool is_blocking{};
    bool is_invalidated{};
    std::shared_ptr<OwnGraph> graph;
    void* name{}; ///< of the graph, from the beginning
};

struct Driver {
    std::mutex mutex;
    bool is_started{};
    std::vector<Gpu> gpus;
    std::set<OwnContext*> contexts;
    std::set<std::pair<OwnContext*, OwnContext*>> peers; ///< the first may use what is allocated in the second
    std::map<Address, Block> blocks;
    std::map<MemoryHandle, Physical> physical;
    std::map<Address, std::size_t> reserved;
    std::map<Address, Mapping> mappings;
    std::set<Kernel*> kernels;
    std::map<void*, OwnModule> modules;
    std::set<OwnStream*> streams;
    std::map<void*, gpu::cuda::Location> pools; ///< that the program has made
    std::map<Event, OwnEvent> events;
    std::map<OwnStream*, Capture> captures;
    std::map<void*, std::shared_ptr<OwnGraph>> graphs;
    std::map<void*, std::shared_ptr<OwnGraph>> execs;
    MemoryHandle next_handle = 0x1000;

    std::condition_variable queue_changed;
    std::deque<Launch> queue;
    bool is_working{};
    OwnStream* working_on{};
    OwnContext* working_in{};
    bool has_worker{};

    std::int64_t program_ns{}; ///< how far the program has come, by the virtual clock
};

Driver& driver();

/// At the beginning of a function that needs a context.
#define CHECK_CONTEXT                                                                                                  \
    if (!driver().is_started) return fathom::gpu::cuda::kNotInitialized;                                               \
    OwnContext* const context = current_context();                                                                     \
    if (context == nullptr) return gpu::cuda::kInvalidContext

/// The stack of contexts of this thread, the current one last.
std::vector<OwnContext*>& contexts_of_thread();
OwnContext* current_context(); ///< null: none

void read_gpus(Driver& one);

/// Where FATHOM_STANDIN_LEAKS is set: a program that ends well has given all of its memory back.
void watch_for_leaks();

/// Of memory that a kernel or a copy touches: all of it must be there.
void require_mapped(Address address, std::size_t bytes, const std::string& who);

/// Of memory that a kernel touches: its GPU may. A program has to ask for that where the memory is another GPU's.
void require_access(const OwnContext& context, Address address);

/// What the thread of the kernels does, for ever: runs launches in their order.
void work();
void wait_for_kernels();
void wait_for_kernels(OwnContext* context); ///< of one context

/// What captures forbid, as NVIDIA says; what is refused ends the captures that it would disturb.
/// @return  kSuccess, or what the function is to return.
gpu::cuda::Status refuse_waiting_for(OwnContext* context);
gpu::cuda::Status refuse_legacy_stream(OwnContext* context);
gpu::cuda::Status refuse_unsafe(); ///< by the mode of this thread
#define REFUSE_IN_CAPTURE(call)                                                                                        \
    if (const gpu::cuda::Status refused = (call); refused != gpu::cuda::kSuccess) return refused

/// Into the queue, or the graph that the stream is captured into.
gpu::cuda::Status launch_on(gpu::cuda::Stream stream, const Launch& launch);
/// null: not captured. With the mutex held.
Capture* capture_of(gpu::cuda::Stream stream);
/// Nodes of a graph that are about memory. With the mutex held.
Address add_allocation(OwnGraph& graph, std::size_t bytes);
bool add_free(OwnGraph& graph, Address address); ///< false: not of this graph
/// @return  false for what is no such node.
bool run_memory_node(const Launch& launch);
bool run_event_or_copy(const Launch& launch); ///< likewise

/// Memory of a context's card. With the mutex held.
gpu::cuda::Status take_block(Address* address, std::size_t bytes, BlockOf of, OwnContext* context = current_context());
void drop_block(std::map<Address, Block>::iterator block);

std::size_t rounded_up(std::size_t bytes, std::size_t multiple);

/// What nobody wrote is no number that a check expects. A benchmark of time leaves it out: no card does that.
void poison(void* memory, std::size_t bytes);

} // namespace fathom::standin
