#include "probes/profile/interposer/attachment.hpp"

#include "probes/profile/interposer/locks.hpp"
#include "probes/profile/interposer/objects.hpp"
#include "probes/profile/interposer/real_function.hpp"
#include "probes/profile/interposer/weak_references.hpp"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fathom::profile {
namespace {

constinit std::atomic<Counts*> g_counts{nullptr};
constinit std::atomic<bool> g_has_key{false};
pthread_key_t g_thread_end;

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadSlot* t_slot = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_has_no_slot = false;

Counts* map_anonymous()
{
    // Untouched pages cost nothing.
    void* memory =
        mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Counts*>(memory);
}

Counts* map_file()
{
    const char* path = std::getenv(kCountsVariable); // NOLINT(concurrency-mt-unsafe): before the program's threads
    if (path == nullptr) return nullptr;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return nullptr;
    struct stat facts = {};
    const bool fits = fstat(fd, &facts) == 0 && facts.st_size == static_cast<off_t>(sizeof(Counts));
    void* memory = fits ? mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (memory == MAP_FAILED) return nullptr;
    Counts* counts = static_cast<Counts*>(memory);
    if (counts->magic == kCountsMagic && counts->bytes == sizeof(Counts)) return counts;
    munmap(memory, sizeof(Counts));
    return nullptr;
}

void note_process(Counts& counts)
{
    const std::uint32_t at = counts.processes_used.fetch_add(1, std::memory_order_relaxed);
    if (at < kMaxProcesses) counts.processes[at].store(static_cast<std::uint32_t>(getpid()), std::memory_order_release);
}

void note_thread_end(void* slot)
{
    static_cast<ThreadSlot*>(slot)->end_ticks.store(now_ticks(), std::memory_order_release);
}

Counts& attach()
{
    const int kept_errno = errno;
    Counts* mapped = map_file();
    if (mapped == nullptr) mapped = map_anonymous();
    if (mapped == nullptr) _exit(127); // not even address space: the program could not run either
    Counts* expected = nullptr;
    if (g_counts.compare_exchange_strong(expected, mapped, std::memory_order_acq_rel)) {
        note_process(*mapped);
    } else {
        munmap(mapped, sizeof(Counts));
        mapped = expected;
    }
    errno = kept_errno;
    return *mapped;
}

} // namespace

Counts& counts()
{
    Counts* mapped = g_counts.load(std::memory_order_acquire);
    return mapped != nullptr ? *mapped : attach();
}

ThreadSlot* thread_slot()
{
    if (t_slot != nullptr || t_has_no_slot) return t_slot;
    Counts& all = counts();
    const std::uint32_t at = all.threads_used.fetch_add(1, std::memory_order_relaxed);
    if (at >= kMaxThreads) {
        t_has_no_slot = true;
        return nullptr;
    }
    ThreadSlot& slot = all.threads[at];
    slot.process.store(static_cast<std::uint32_t>(getpid()), std::memory_order_relaxed);
    slot.first_ticks.store(now_ticks(), std::memory_order_relaxed);
    slot.thread.store(static_cast<std::uint32_t>(syscall(SYS_gettid)), std::memory_order_release);
    t_slot = &slot;
    if (g_has_key.load(std::memory_order_acquire)) pthread_setspecific(g_thread_end, &slot);
    return t_slot;
}

} // namespace fathom::profile

#if defined(__x86_64__)
extern "C" {
/// Read by the stubs of vector functions.
[[gnu::tls_model("initial-exec")]] constinit thread_local fathom::profile::Shard* fathom_profile_shard = nullptr;
void* fathom_profile_vector_real[fathom::profile::kVectorFunctionCount] = {};
int fathom_profile_has_xsave = 0;
void fathom_profile_prepare_vector(std::uint32_t function, const void* caller);
}

/// Finds the real function and memory for the thread's counts.
void fathom_profile_prepare_vector(std::uint32_t function, const void* caller)
{
    using namespace fathom::profile; // NOLINT(google-build-using-namespace): the stub calls a global name
    if (fathom_profile_vector_real[function] == nullptr) {
        void* real = find_real_by_name(kVectorFunctions[function].name, caller);
        if (real == nullptr) stop_for_missing(kVectorFunctions[function].name);
        fathom_profile_vector_real[function] = real;
    }
    if (fathom_profile_shard != nullptr) return;
    thread_slot(); // it executes operators
    Counts& all = counts();
    const std::uint32_t at = all.shards_used.fetch_add(1, std::memory_order_relaxed);
    fathom_profile_shard = &all.shards[at < kMaxShards ? at : kMaxShards - 1];
}
#endif

namespace fathom::profile {
namespace {

/// The child has one thread, and it is a new one: its slot and its memory are the parent's.
void begin_child()
{
    g_locks.free_all();
    begin_child_lookups();
    t_slot = nullptr;
    t_has_no_slot = false;
#if defined(__x86_64__)
    fathom_profile_shard = nullptr;
#endif
    note_process(counts());
}

/// Before the program's own constructors where the loader allows it; an earlier call attaches by itself.
[[gnu::constructor(101)]] void begin()
{
    look_up(RTLD_NEXT, "dlsym");
    clear_weak_references();
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    fathom_profile_has_xsave = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0 ? 1 : 0;
#endif
    g_has_key.store(pthread_key_create(&g_thread_end, note_thread_end) == 0, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, begin_child);
    counts();
}

} // namespace
} // namespace fathom::profile
