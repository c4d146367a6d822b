#pragma once

#include "probes/profile/symbol_table.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The file that every process of a profiled program maps and counts into, and that `fathom-profile` reads
/// while they run. Counts survive whatever ends a process, since the mapping is shared. One file for the whole
/// tree of processes: whoever forks goes on counting where its parent counts.
namespace fathom::profile {

inline constexpr std::uint64_t kCountsMagic = 0x31'4c'46'4f'52'50'54'46; // "FTPROFL1"
inline constexpr std::size_t kMaxDimensions = 8;
inline constexpr std::size_t kMaxEntries = 16384; ///< kinds of call; a power of two
inline constexpr std::size_t kMaxFlows = 8192;    ///< a power of two
inline constexpr std::size_t kMaxThreads = 16384;
inline constexpr std::size_t kMaxProcesses = 16384;
inline constexpr std::size_t kMaxShards = 256;
/// The environment variable that names the file.
inline constexpr const char* kCountsVariable = "FATHOM_PROFILE_COUNTS";

/// What stands in place of an entry's hash until it is whole. Whoever waits for its writer in vain gives it up for all,
/// since the writer may have been killed: it is then lost.
inline constexpr std::uint64_t kEntryFree = 0;
inline constexpr std::uint64_t kEntryBeingWritten = 1;
inline constexpr std::uint64_t kEntryGivenUp = 2;

/// All calls of one entry point with the same dimensions.
struct alignas(64) Entry {
    std::atomic<std::uint64_t> hash; ///< written last
    std::uint32_t symbol;
    std::int64_t dimensions[kMaxDimensions];
    std::atomic<std::uint64_t> count; ///< calls that began
    std::atomic<std::uint64_t> ticks; ///< of calls that returned
    std::atomic<std::uint64_t> bytes; ///< of calls that returned, of Action::kBytes: what went through
};

/// Calls of an entry point whose dimensions found no room in the table.
struct Overflow {
    std::atomic<std::uint64_t> count;
    std::atomic<std::uint64_t> ticks;
};

/// How often one kind of call read what another had written.
struct Flow {
    std::atomic<std::uint64_t> key; ///< (writer + 1) << 32 | (reader + 1); 0: free
    std::atomic<std::uint64_t> count;
};

/// A thread that has executed an operator.
struct ThreadSlot {
    std::atomic<std::uint32_t> process;
    std::atomic<std::uint32_t> thread; ///< 0: free; written last
    std::atomic<std::uint64_t> first_ticks;
    std::atomic<std::uint64_t> end_ticks;   ///< 0 while it lives, and when it was killed
    std::atomic<std::uint64_t> since_ticks; ///< when the running operator began; 0 outside operators
    std::atomic<std::uint32_t> entry;       ///< of the running operator
};

/// What one thread counted of a vector function.
struct VectorCount {
    std::uint64_t calls;
    std::uint64_t timed_calls; ///< every 1024th is timed
    std::uint64_t timed_ticks;
    std::uint64_t unused;
};

/// What one thread counted of the C library's vector functions; its own, so that counting costs no lock.
struct Shard {
    VectorCount functions[kVectorFunctionCount];
};

/// The whole file. All zero is a valid beginning but for the first fields.
struct Counts {
    std::uint64_t magic;
    std::uint64_t bytes; ///< sizeof(Counts): the reader and the interposer are of one build
    std::atomic<std::uint32_t> processes_used;
    std::atomic<std::uint32_t> threads_used; ///< may exceed kMaxThreads: the rest is not followed
    std::atomic<std::uint32_t> shards_used;  ///< may exceed kMaxShards: the last one is shared, counts inexact
    std::atomic<std::uint32_t> lost_flows;   ///< times that a flow found no room
    std::atomic<std::uint32_t> lost_lookups; ///< dlsym() answers that could not be followed
    std::atomic<std::uint32_t> processes[kMaxProcesses]; ///< ids of processes that have the interposer
    Overflow overflow[kSymbolCount];
    Entry entries[kMaxEntries];
    Flow flows[kMaxFlows];
    ThreadSlot threads[kMaxThreads];
    Shard shards[kMaxShards];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// A clock that costs no system call: the time stamp counter, or nanoseconds where there is none.
inline std::uint64_t now_ticks()
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "the profiler knows x86-64 and AArch64"
#endif
}

} // namespace fathom::profile
