#include "probes/profile/interposer/real_function.hpp"

#include "probes/profile/interposer/locks.hpp"
#include "probes/profile/interposer/memory_table.hpp"
#include "probes/profile/symbol_table.hpp"

#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>

/// Also jumped to by the stub of dlsym().
extern "C" {
void* (*fathom_profile_real_dlsym)(void*, const char*) = nullptr;
int fathom_profile_dlclose(void* handle) noexcept;
}

/// dlclose() with a version of the C library (versions.map).
#define FATHOM_DLCLOSE(number, version)                                                                                \
    extern "C" int fathom_profile_dlclose_##number(void*) noexcept                                                     \
        __attribute__((alias("fathom_profile_dlclose"), visibility("default")));                                       \
    __asm__(".symver fathom_profile_dlclose_" #number ", dlclose" version)
FATHOM_DLCLOSE(1, "@GLIBC_2.2.5");
FATHOM_DLCLOSE(2, "@GLIBC_2.17");
FATHOM_DLCLOSE(3, "@@GLIBC_2.34");
#undef FATHOM_DLCLOSE

namespace fathom::profile {
namespace {

using Close = int (*)(void*);

static_assert(kSymbolCount < 4094, "key_of() has twelve bits for the symbol");
constinit std::atomic<void*> g_next[kSymbolCount] = {};
constinit MemoryTable<1, 8192> g_answers = {}; // what callers were answered
constinit bool g_has_answers = false;          // in one of the two; under their lock, and never too late
constinit std::atomic<Close> g_close{nullptr};
constinit std::atomic<bool> g_is_forked{false};

void* find_in_c_library(const char* name)
{
    void* found = nullptr;
    // Its version differs by architecture and by whether libdl is a library of its own.
    for (const char* version : {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"}) {
        found = dlvsym(RTLD_NEXT, name, version);
        if (found != nullptr) break;
    }
    return found;
}

int close_library(void* handle)
{
    Close close = g_close.load(std::memory_order_acquire);
    if (close == nullptr) {
        close = reinterpret_cast<Close>(find_in_c_library("dlclose"));
        g_close.store(close, std::memory_order_release);
    }
    return close == nullptr ? -1 : close(handle);
}

const void* library_of(const void* address)
{
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Looks in a loaded library and in those that it was linked with.
void* look_in(const char* library, const char* name)
{
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* found = look_up(handle, name);
    close_library(handle);
    return found == nullptr || is_ours(found) ? nullptr : found;
}

struct LoadedLibraries {
    const char* names[1024];
    std::size_t count;
};

/// @return whether there is room for more.
bool note_library(LoadedLibraries& libraries, const char* name)
{
    if (name != nullptr && name[0] != '\0') libraries.names[libraries.count++] = name;
    return libraries.count < std::size(libraries.names);
}

int note_visited(dl_phdr_info* info, std::size_t /*size*/, void* data)
{
    return note_library(*static_cast<LoadedLibraries*>(data), info->dlpi_name) ? 0 : 1;
}

/// dl_iterate_phdr() takes a lock that the loader does not free in a forked child, where it would wait for ever if
/// another thread of the parent was just loading a library. There the loader's list is read as debuggers read it.
void list_libraries(LoadedLibraries& libraries)
{
    if (!g_is_forked.load(std::memory_order_relaxed)) {
        dl_iterate_phdr(note_visited, &libraries);
        return;
    }
    void* program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (program == nullptr || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0) return;
    while (map != nullptr && note_library(libraries, map->l_name))
        map = map->l_next;
    close_library(program);
}

/// For libraries that do not name what they need: their loader has it somewhere.
void* look_everywhere(const char* name)
{
    LoadedLibraries libraries{};
    list_libraries(libraries);
    for (std::size_t i = 0; i < libraries.count; ++i) {
        if (void* found = look_in(libraries.names[i], name); found != nullptr) return found;
    }
    return nullptr;
}

std::uint64_t key_of(std::size_t symbol, const void* caller)
{
    return (reinterpret_cast<std::uintptr_t>(caller) << 12U) ^ (symbol + 2); // never below kMinKey
}

void remember_next(std::size_t symbol, void* next)
{
    const Guard guard(g_locks.answers);
    g_has_answers = true;
    g_next[symbol].store(next, std::memory_order_release);
}

void remember_answer(std::uint64_t key, const void* real)
{
    const std::uint64_t words[1] = {reinterpret_cast<std::uintptr_t>(real)};
    const Guard guard(g_locks.answers);
    g_has_answers = true;
    if (g_answers.put(key, words)) return;
    g_answers.clear(); // a memory of answers, not the only place of anything
    g_answers.put(key, words);
}

/// Programs close libraries again and again, most without a call of ours in between: then there is nothing to do.
void forget_answers()
{
    const Guard guard(g_locks.answers);
    if (!g_has_answers) return;
    g_answers.clear();
    for (std::atomic<void*>& next : g_next)
        next.store(nullptr, std::memory_order_release);
    g_has_answers = false; // last: a child that is forked in the middle does it again
}

} // namespace

void begin_child_lookups()
{
    g_is_forked.store(true, std::memory_order_relaxed);
}

void* look_up(void* handle, const char* name)
{
    if (fathom_profile_real_dlsym == nullptr)
        fathom_profile_real_dlsym = reinterpret_cast<void* (*)(void*, const char*)>(find_in_c_library("dlsym"));
    return fathom_profile_real_dlsym == nullptr ? nullptr : fathom_profile_real_dlsym(handle, name);
}

bool are_of_one_library(const void* a, const void* b)
{
    const void* const library = library_of(a);
    return library != nullptr && library == library_of(b);
}

bool is_ours(const void* function)
{
    return are_of_one_library(function, kSymbols);
}

void* find_real_by_name(const char* name, const void* caller)
{
    const int kept_errno = errno;
    void* found = look_up(RTLD_NEXT, name);
    Dl_info info{};
    if (found == nullptr && dladdr(caller, &info) != 0 && info.dli_fname != nullptr)
        found = look_in(info.dli_fname, name);
    if (found == nullptr) found = look_everywhere(name);
    if (found != nullptr) dlerror(); // our failures are not the program's
    errno = kept_errno;
    return found;
}

void* find_real(std::size_t symbol, const void* caller)
{
    if (void* next = g_next[symbol].load(std::memory_order_acquire); next != nullptr) return next;
    const std::uint64_t key = key_of(symbol, caller);
    if (std::uint64_t answer[1]; g_answers.find(key, answer)) return reinterpret_cast<void*>(answer[0]);
    const int kept_errno = errno;
    void* next = look_up(RTLD_NEXT, kSymbols[symbol].name);
    if (next != nullptr) {
        remember_next(symbol, next);
    } else if (void* own = find_real_by_name(kSymbols[symbol].name, caller); own != nullptr) {
        remember_answer(key, own);
        next = own;
    }
    errno = kept_errno;
    return next;
}

} // namespace fathom::profile

// What a library that goes away has answered no longer holds.
int fathom_profile_dlclose(void* handle) noexcept
{
    const int result = fathom::profile::close_library(handle);
    const int kept_errno = errno;
    fathom::profile::forget_answers();
    errno = kept_errno;
    return result;
}
