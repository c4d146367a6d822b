#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/real_function.hpp"

#include <atomic>

namespace fathom::profile {
namespace {

/// z_stream as laid out by zlib on 64-bit machines, the part that is read here.
struct Stream {
    const void* next_input;
    std::uint32_t available_input;
    std::uint64_t total_input;
    const void* next_output;
    std::uint32_t available_output;
    std::uint64_t total_output;
};
static_assert(offsetof(Stream, total_input) == 16 && offsetof(Stream, total_output) == 40);

/// What each entry point's real function was found to be when it was last asked.
struct Verdicts {
    std::atomic<const void*> is_zlib[kSymbolCount];
    std::atomic<const void*> is_other[kSymbolCount];
};
constinit Verdicts g_verdicts = {};

/// Other libraries may have functions of these names, whose arguments mean something else.
bool is_of_zlib(const CallFrame& frame, const void* real)
{
    if (g_verdicts.is_zlib[frame.symbol].load(std::memory_order_relaxed) == real) return true;
    if (g_verdicts.is_other[frame.symbol].load(std::memory_order_relaxed) == real) return false;
    const void* const version = find_real_by_name("zlibVersion", frame.return_address);
    const bool is_zlib = version != nullptr && are_of_one_library(version, real);
    (is_zlib ? g_verdicts.is_zlib : g_verdicts.is_other)[frame.symbol].store(real, std::memory_order_relaxed);
    return is_zlib;
}

/// The bytes that went through by now, as the entry point's signature says.
std::uint64_t bytes_until_now(const SymbolInfo& info, const CallFrame& frame)
{
    constexpr std::size_t kDestinationSize = 1;
    constexpr std::size_t kSourceSize = 3;
    const Arguments arguments(frame, info.interface);
    switch (info.signature[0]) {
    case 'i':
        return Arguments::read<Stream>(arguments.pointer(0)).total_input;
    case 'o':
        return Arguments::read<Stream>(arguments.pointer(0)).total_output;
    case 'd':
        return Arguments::read<std::uint64_t>(arguments.pointer(kDestinationSize));
    default:
        return arguments.word(kSourceSize);
    }
}

} // namespace

bool note_bytes_before(const SymbolInfo& info, CallFrame& frame, const void* real)
{
    if (!is_of_zlib(frame, real)) return false;
    const bool is_stream = info.signature[0] == 'i' || info.signature[0] == 'o';
    frame.bytes_before = is_stream ? bytes_until_now(info, frame) : 0;
    return true;
}

std::uint64_t bytes_of_call(const SymbolInfo& info, const CallFrame& frame)
{
    const std::uint64_t bytes = bytes_until_now(info, frame);
    return bytes > frame.bytes_before ? bytes - frame.bytes_before : 0;
}

} // namespace fathom::profile
