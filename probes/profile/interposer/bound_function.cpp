// What dlsym() answers for entry points that are counted: a stub that is bound to the function that was found.

#include "probes/profile/interposer/attachment.hpp"
#include "probes/profile/interposer/locks.hpp"
#include "probes/profile/interposer/real_function.hpp"
#include "probes/profile/interposer/weak_references.hpp"
#include "probes/profile/symbol_table.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>

namespace {

constexpr std::size_t kMaxBound = 1024; // as many stubs as forward_*.S has
constexpr std::size_t kStubBytes = 32;

struct Bound {
    void* real;
    std::uint64_t symbol;
};

} // namespace

extern "C" {
/// Read by the stubs: the real function and the symbol of each.
Bound fathom_profile_bound[kMaxBound] = {};
extern const char fathom_profile_bound_stubs[];
int fathom_profile_find(void* handle, const char* name, const void* caller, void** answer);
}

namespace fathom::profile {
namespace {

constinit std::atomic<std::size_t> g_bound_count{0}; // what stands below it never changes

constexpr std::uint32_t hash_name(const char* name)
{
    std::uint32_t hash = 2166136261U;
    for (; *name != '\0'; ++name)
        hash = (hash ^ static_cast<unsigned char>(*name)) * 16777619U;
    return hash;
}

constexpr std::size_t kBuckets = 8192;
static_assert(kSymbolCount < kBuckets / 2);

/// Symbols by name, made by the compiler: programs that call dlsym() a thousand times are common.
struct NameTable {
    std::uint16_t symbols[kBuckets]; ///< + 1; 0: free
    constexpr NameTable() : symbols{}
    {
        for (std::size_t i = 0; i < kSymbolCount; ++i) {
            std::size_t at = hash_name(kSymbols[i].name) % kBuckets;
            while (symbols[at] != 0)
                at = (at + 1) % kBuckets;
            symbols[at] = static_cast<std::uint16_t>(i + 1);
        }
    }
};
constinit const NameTable kNames;

/// @return the symbol's index, or kSymbolCount.
std::size_t find_symbol(const char* name)
{
    for (std::size_t at = hash_name(name) % kBuckets; kNames.symbols[at] != 0; at = (at + 1) % kBuckets) {
        const std::size_t symbol = kNames.symbols[at] - 1U;
        if (std::strcmp(kSymbols[symbol].name, name) == 0) return symbol;
    }
    return kSymbolCount;
}

/// @return where it is bound among the first `count`, else `count`.
std::size_t find_bound(std::size_t symbol, const void* real, std::size_t count)
{
    std::size_t at = 0;
    while (at < count && !(fathom_profile_bound[at].real == real && fathom_profile_bound[at].symbol == symbol))
        ++at;
    return at;
}

/// @return where it is bound now, or kMaxBound: no room.
std::size_t add_bound(std::size_t symbol, void* real)
{
    const Guard guard(g_locks.bound);
    const std::size_t count = g_bound_count.load(std::memory_order_relaxed);
    const std::size_t at = find_bound(symbol, real, count); // another thread may have been faster
    if (at < count || at == kMaxBound) return at;
    fathom_profile_bound[at] = {real, symbol};
    g_bound_count.store(at + 1, std::memory_order_release);
    return at;
}

void* bind(std::size_t symbol, void* real)
{
    const std::size_t count = g_bound_count.load(std::memory_order_acquire);
    std::size_t at = find_bound(symbol, real, count);
    if (at == count) at = add_bound(symbol, real);
    if (at < kMaxBound) return const_cast<char*>(fathom_profile_bound_stubs) + at * kStubBytes;
    counts().lost_lookups.fetch_add(1, std::memory_order_relaxed);
    return real; // not counted, and the report says so
}

/// What the program would have found without us.
void* find_for(void* handle, const char* name, const void* caller)
{
    // The program's own scope holds us before the libraries, but the program itself before us.
    void* found = look_up(handle, name);
    if (found != nullptr && is_ours(found)) found = look_up(RTLD_NEXT, name);
    if (found != nullptr || handle != RTLD_DEFAULT || was_loaded_at_start(caller)) return found;
    return find_real_by_name(name, caller); // a library that was loaded later also sees what came with it
}

} // namespace
} // namespace fathom::profile

/// dlsym() as seen by its stub. @return 0 when the C library shall answer.
int fathom_profile_find(void* handle, const char* name, const void* caller, void** answer)
{
    using namespace fathom::profile; // NOLINT(google-build-using-namespace): the stub calls a global name
    look_up(RTLD_NEXT, "dlsym");     // the stub jumps there
    if (name == nullptr || handle == RTLD_NEXT) return 0;
    const std::size_t symbol = find_symbol(name);
    const bool is_vector = std::strncmp(name, "_ZGV", 4) == 0;
    if (symbol == kSymbolCount && !is_vector) return 0;
    void* real = find_for(handle, name, caller);
    // Vector functions that are looked up by hand are not worth a bound stub of every width.
    *answer = real == nullptr || is_vector ? real : bind(symbol, real);
    return 1;
}
