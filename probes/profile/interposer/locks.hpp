#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::profile {

/// Tells the processor that this thread waits for another one.
inline void pause_briefly()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    asm volatile("yield");
#endif
}

/// A lock that is usable before any constructor has run. Who cannot have it within a microsecond or so sleeps, so
/// that a holder who lost its processor gets it back.
class Lock {
  public:
    void lock()
    {
        for (int tries = 0; tries < 64; ++tries) {
            std::uint32_t state = kFree;
            if (state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire)) return;
            pause_briefly();
        }
        while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree)
            futex(FUTEX_WAIT_PRIVATE, kAwaited);
    }
    void unlock()
    {
        if (state_.exchange(kFree, std::memory_order_release) == kAwaited) futex(FUTEX_WAKE_PRIVATE, 1);
    }

  private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    static constexpr std::uint32_t kAwaited = 2; ///< held, and somebody sleeps until it is free

    void futex(int operation, std::uint32_t value)
    {
        const int kept_errno = errno;
        syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0);
        errno = kept_errno;
    }

    std::atomic<std::uint32_t> state_{kFree};
};

/// Holds a Lock for a scope. No signal handler runs meanwhile: one that calls a counted function would wait for the
/// thread that it has interrupted.
class Guard {
  public:
    explicit Guard(Lock& lock) : lock_(lock)
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
        lock_.lock();
    }
    ~Guard()
    {
        lock_.unlock();
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lock& lock_;
    sigset_t before_{};
};

/// Every lock of the interposer; what is done at every call needs none of them. They stand together so that a forked
/// child can free them all: the thread that held one exists in the parent only, and nobody would ever unlock it. What
/// they protect is whole at every instruction, so the child needs no more than that.
struct Locks {
    Lock answers; ///< of find_real()
    Lock bound;   ///< stubs that dlsym() hands out
    Lock objects; ///< plans, handles, descriptors

    void free_all()
    {
        for (Lock* lock : {&answers, &bound, &objects})
            lock->unlock();
    }
};
inline constinit Locks g_locks;

} // namespace fathom::profile
