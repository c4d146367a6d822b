#pragma once

#include "agent/gpu/cuda_abi.hpp"
#include "tests/support/standin_gpu/card_books.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// What the functions of the stand-in driver share.
namespace fathom::standin {

using gpu::cuda::Address;
using gpu::cuda::Device;
using gpu::cuda::MemoryHandle;

inline constexpr std::size_t kPiece = 2U << 20U; ///< bytes, of memory that is mapped

struct OwnContext;

struct Gpu {
    std::string id;
    std::int64_t bytes{};
    std::unique_ptr<CardBooks> books;
    OwnContext* primary{}; ///< context
    int primary_uses{};
};

struct OwnContext {
    Device device{};
    std::size_t blocks{};
};

struct Block { ///< by cuMemAlloc
    std::size_t bytes{};
    std::size_t taken{};
    OwnContext* context{};
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
    bool is_accessible{};
};

struct Launch {
    std::string kernel;
    std::array<std::uint64_t, 3> arguments{};
};

struct Driver {
    std::mutex mutex;
    bool is_started{};
    std::vector<Gpu> gpus;
    std::set<OwnContext*> contexts;
    std::map<Address, Block> blocks;
    std::map<MemoryHandle, Physical> physical;
    std::map<Address, std::size_t> reserved;
    std::map<Address, Mapping> mappings;
    std::set<std::string*> kernels;
    MemoryHandle next_handle = 0x1000;

    std::condition_variable queue_changed;
    std::deque<Launch> queue;
    bool is_working{};
    bool has_worker{};
};

Driver& driver();

/// The stack of contexts of this thread, the current one last.
std::vector<OwnContext*>& contexts_of_thread();
OwnContext* current_context(); ///< null: none

void read_gpus(Driver& one);

/// Where FATHOM_STANDIN_LEAKS is set: a program that ends well has given all of its memory back.
void watch_for_leaks();

/// Of memory that a kernel or a copy touches: all of it must be there.
void require_mapped(Address address, std::size_t bytes, const std::string& who);

/// What the thread of the kernels does, for ever: runs launches in their order.
void work();
void wait_for_kernels();

std::size_t rounded_up(std::size_t bytes, std::size_t multiple);

/// What nobody wrote is no number that a check expects. A benchmark of time leaves it out: no card does that.
void poison(void* memory, std::size_t bytes);

} // namespace fathom::standin
