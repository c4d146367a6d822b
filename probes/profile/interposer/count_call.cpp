// What every stub does before and after the real function: count, time, note what flows.

#include "probes/profile/interposer/attachment.hpp"
#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/locks.hpp"
#include "probes/profile/interposer/objects.hpp"
#include "probes/profile/interposer/real_function.hpp"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr std::size_t kMaxWritten = 128; // buffers that a thread remembers; a power of two
constexpr std::size_t kMaxSteps = 64;    // places that are tried in a table

/// A buffer that an operator wrote.
struct Written {
    const void* buffer;
    std::uint64_t entry; ///< index + 1
};

/// What a thread knows of itself.
struct ThreadState {
    /// Where the running operator's return address stands, and what it is. Both, since a program may leave an
    /// operator by longjmp(): then another address will stand there, or the stack will have shrunk below it.
    const void* const* outer_place;
    const void* outer_return;
    Written written[kMaxWritten];
};

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState t_state = {};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29U);
}

std::uint64_t hash_of(std::uint64_t symbol, const Call& call)
{
    std::uint64_t hash = mix(symbol + 1, 0);
    for (const std::int64_t size : call.dimensions)
        hash = mix(hash, static_cast<std::uint64_t>(size));
    return hash | 3; // above kEntryGivenUp
}

bool is_entry(const Entry& entry, std::uint64_t symbol, const Call& call)
{
    return entry.symbol == symbol && std::memcmp(entry.dimensions, call.dimensions, sizeof(call.dimensions)) == 0;
}

/// @return false when others gave up waiting for us.
bool write_entry(Entry& entry, std::uint64_t hash, std::uint64_t symbol, const Call& call)
{
    entry.symbol = static_cast<std::uint32_t>(symbol);
    std::memcpy(entry.dimensions, call.dimensions, sizeof(call.dimensions));
    std::uint64_t expected = kEntryBeingWritten;
    return entry.hash.compare_exchange_strong(expected, hash, std::memory_order_acq_rel);
}

/// Waits until another thread has written an entry: a few instructions. One that was killed meanwhile holds up one
/// call of the whole program, for some ten microseconds. @return the entry's hash.
std::uint64_t await_entry(Entry& entry)
{
    std::uint64_t found = kEntryBeingWritten;
    for (int wait = 0; found == kEntryBeingWritten && wait < 1000; ++wait) {
        pause_briefly();
        found = entry.hash.load(std::memory_order_acquire);
    }
    if (found == kEntryBeingWritten &&
        entry.hash.compare_exchange_strong(found, kEntryGivenUp, std::memory_order_acq_rel))
        return kEntryGivenUp;
    return found;
}

/// The entry of such calls, made when it is the first.
/// @return its index + 1; 0: no room.
std::uint64_t find_entry(Counts& all, std::uint64_t symbol, const Call& call)
{
    const std::uint64_t hash = hash_of(symbol, call);
    for (std::size_t step = 0; step < kMaxSteps; ++step) {
        const std::size_t at = (hash + step) % kMaxEntries;
        Entry& entry = all.entries[at];
        std::uint64_t found = entry.hash.load(std::memory_order_acquire);
        if (found == kEntryFree &&
            entry.hash.compare_exchange_strong(found, kEntryBeingWritten, std::memory_order_acq_rel)) {
            if (write_entry(entry, hash, symbol, call)) return at + 1;
            continue;
        }
        if (found == kEntryBeingWritten) found = await_entry(entry);
        if (found == hash && is_entry(entry, symbol, call)) return at + 1;
    }
    return 0;
}

void count_flow(Counts& all, std::uint64_t writer, std::uint64_t reader)
{
    const std::uint64_t key = writer << 32U | reader;
    for (std::size_t step = 0; step < kMaxSteps; ++step) {
        Flow& flow = all.flows[(mix(key, 0) + step) % kMaxFlows];
        std::uint64_t found = flow.key.load(std::memory_order_relaxed);
        if (found == key ||
            (found == 0 && (flow.key.compare_exchange_strong(found, key, std::memory_order_relaxed) || found == key))) {
            flow.count.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
    all.lost_flows.fetch_add(1, std::memory_order_relaxed);
}

Written& written_at(const void* buffer)
{
    return t_state.written[(mix(reinterpret_cast<std::uintptr_t>(buffer), 0) >> 20U) % kMaxWritten];
}

void note_reads(Counts& all, const Call& call, std::uint64_t reader)
{
    for (const void* buffer : call.read) {
        if (buffer == nullptr) return;
        const Written& written = written_at(buffer);
        if (written.buffer == buffer && written.entry != reader) count_flow(all, written.entry, reader);
    }
}

bool is_nested(const CallFrame& frame)
{
    const ThreadState& state = t_state;
    const void* const* place = reinterpret_cast<const void* const*>(frame.stack) - 1;
    return state.outer_place != nullptr && place < state.outer_place && *state.outer_place == state.outer_return;
}

/// How many words of the caller's stack may hold arguments: what the signature takes, and what may follow it
/// (work arrays, the lengths of strings that Fortran passes).
std::uint64_t stack_words(const SymbolInfo& info)
{
    constexpr std::uint64_t kFollowing = 4;
    const std::uint64_t words =
        info.action == Action::kCall ? std::strlen(info.signature) + kFollowing : std::uint64_t{20};
    return words < kMaxStackWords ? words : kMaxStackWords;
}

/// Whether the eight bytes there can be read. The kernel copies a set of signals from there before it finds that it is
/// told to do nothing known with it.
bool is_readable(const std::uint64_t* address)
{
    constexpr int kUnknown = -1;
    const int kept_errno = errno;
    const bool fails = syscall(SYS_rt_sigprocmask, kUnknown, address, nullptr, sizeof(*address)) != 0;
    const bool is_hidden = fails && errno == EFAULT;
    errno = kept_errno;
    return !is_hidden;
}

/// How many of these words of the caller's stack can be read. A coroutine's stack may end behind what its function is
/// called with: there the next page is nobody's, and holds no arguments.
std::uint64_t readable_words(const std::uint64_t* stack, std::uint64_t words)
{
    constexpr std::uintptr_t kPageBytes = 4096; // the smallest that there is
    static_assert(kMaxStackWords * sizeof(std::uint64_t) < kPageBytes, "at most one page more");
    // The word before the first is in use, so its page is there.
    const auto first = reinterpret_cast<std::uintptr_t>(stack);
    const std::uintptr_t page_end = (first - sizeof(*stack)) / kPageBytes * kPageBytes + kPageBytes;
    const std::uint64_t in_page = (page_end - first) / sizeof(*stack);
    return words <= in_page || is_readable(stack + in_page) ? words : in_page;
}

/// @return false when nothing is executed.
bool decode(const SymbolInfo& info, const CallFrame& frame, Call& call)
{
    switch (info.action) {
    case Action::kCall:
        return decode_by_signature(info, frame, call);
    case Action::kFftwExecute:
    case Action::kCufftExecute:
        decode_fft(info, frame, call);
        return true;
    case Action::kSparse:
        decode_sparse(info, frame, call);
        return true;
    case Action::kDnnlExecute:
        decode_dnnl(frame, call);
        return true;
    case Action::kCudnnConvolution:
        decode_cudnn(info, frame, call);
        return true;
    case Action::kBytes:
    case Action::kMessage:
        return true;
    case Action::kForget:
    case Action::kForgetNumber:
    case Action::kFftwPlan:
    case Action::kCufftPlan:
    case Action::kSparseCreate:
    case Action::kCudnnDescriptor:
        return false;
    }
    return false;
}

/// True for functions that make or destroy objects.
bool note_before(const SymbolInfo& info, const CallFrame& frame)
{
    const Arguments arguments(frame, info.interface);
    switch (info.action) {
    case Action::kForget:
        // By reference in Fortran and in UMFPACK's and MKL's style the handle itself.
        forget_object(arguments.is_fortran() ? Arguments::read<std::uint64_t>(arguments.pointer(0))
                                             : arguments.word(0));
        return true;
    case Action::kForgetNumber:
        forget_object(number_key(arguments.word(0)));
        return true;
    case Action::kFftwPlan:
    case Action::kCufftPlan:
    case Action::kSparseCreate:
    case Action::kCudnnDescriptor:
        return true;
    case Action::kCall:
    case Action::kFftwExecute:
    case Action::kCufftExecute:
    case Action::kSparse:
    case Action::kDnnlExecute:
    case Action::kCudnnConvolution:
    case Action::kBytes:
    case Action::kMessage:
        return false;
    }
    return false;
}

void note_after(const SymbolInfo& info, const CallFrame& frame)
{
    switch (info.action) {
    case Action::kFftwPlan:
        note_fftw_plan(info, frame);
        break;
    case Action::kCufftPlan:
        note_cufft_plan(info, frame);
        break;
    case Action::kSparseCreate:
        note_sparse(info, frame);
        break;
    case Action::kCudnnDescriptor:
        note_cudnn(info, frame);
        break;
    case Action::kForget:
    case Action::kForgetNumber:
    case Action::kCall:
    case Action::kFftwExecute:
    case Action::kCufftExecute:
    case Action::kSparse:
    case Action::kDnnlExecute:
    case Action::kCudnnConvolution:
    case Action::kBytes:
    case Action::kMessage:
        break;
    }
}

void begin(CallFrame& frame, const Call& call)
{
    Counts& all = counts();
    frame.outcome = kCounted;
    frame.entry = find_entry(all, frame.symbol, call);
    frame.written[0] = call.written[0];
    frame.written[1] = call.written[1];
    t_state.outer_place = reinterpret_cast<const void* const*>(frame.stack) - 1;
    t_state.outer_return = frame.return_address;
    if (frame.entry != 0) {
        all.entries[frame.entry - 1].count.fetch_add(1, std::memory_order_relaxed);
        note_reads(all, call, frame.entry);
    } else {
        all.overflow[frame.symbol].count.fetch_add(1, std::memory_order_relaxed);
    }
    ThreadSlot* slot = thread_slot();
    frame.start_ticks = now_ticks();
    if (slot == nullptr) return;
    slot->entry.store(static_cast<std::uint32_t>(frame.entry), std::memory_order_relaxed);
    slot->since_ticks.store(frame.start_ticks, std::memory_order_relaxed);
}

} // namespace

void* fathom_profile_enter(CallFrame* frame)
{
    const SymbolInfo& info = kSymbols[frame->symbol];
    frame->outcome = kNested;
    frame->stack_words = readable_words(frame->stack, stack_words(info));
    void* real = frame->real != nullptr ? frame->real : find_real(frame->symbol, frame->return_address);
    if (real == nullptr) stop_for_missing(info.name);
    if (note_before(info, *frame)) {
        frame->outcome = kNoted;
    } else if (!is_nested(*frame) && (info.action != Action::kBytes || note_bytes_before(info, *frame, real))) {
        Call call{};
        if (decode(info, *frame, call)) begin(*frame, call);
    }
    return real;
}

void fathom_profile_leave(CallFrame* frame)
{
    const SymbolInfo& info = kSymbols[frame->symbol];
    if (frame->outcome == kNoted) note_after(info, *frame);
    if (frame->outcome != kCounted) return;
    const std::uint64_t ticks = now_ticks() - frame->start_ticks;
    Counts& all = counts();
    if (info.action == Action::kBytes && frame->entry != 0)
        all.entries[frame->entry - 1].bytes.fetch_add(bytes_of_call(info, *frame), std::memory_order_relaxed);
    if (frame->entry != 0)
        all.entries[frame->entry - 1].ticks.fetch_add(ticks, std::memory_order_relaxed);
    else
        all.overflow[frame->symbol].ticks.fetch_add(ticks, std::memory_order_relaxed);
    t_state.outer_place = nullptr;
    if (ThreadSlot* slot = thread_slot(); slot != nullptr) slot->since_ticks.store(0, std::memory_order_relaxed);
    for (const void* buffer : frame->written) {
        if (buffer != nullptr) written_at(buffer) = {buffer, frame->entry};
    }
}

} // namespace fathom::profile
