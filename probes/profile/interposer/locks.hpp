#pragma once

#include <atomic>

namespace fathom::profile {

/// A lock for a few instructions; usable before any constructor has run, and never waits in the kernel.
class SpinLock {
  public:
    void lock()
    {
        while (busy_.exchange(true, std::memory_order_acquire)) {
            while (busy_.load(std::memory_order_relaxed)) {
            }
        }
    }
    void unlock() { busy_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> busy_{false};
};

/// Holds a SpinLock for a scope.
class SpinGuard {
  public:
    explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
    ~SpinGuard() { lock_.unlock(); }
    SpinGuard(const SpinGuard&) = delete;
    SpinGuard& operator=(const SpinGuard&) = delete;

  private:
    SpinLock& lock_;
};

/// Every lock of the interposer. They stand together so that a forked child can free them all: the thread that held
/// one exists in the parent only, and nobody would ever unlock it. What they protect is whole at every instruction,
/// so the child needs no more than that.
struct Locks {
    SpinLock answers; ///< of find_real()
    SpinLock bound;   ///< stubs that dlsym() hands out
    SpinLock objects; ///< plans, handles, descriptors

    void free_all()
    {
        for (SpinLock* lock : {&answers, &bound, &objects})
            lock->unlock();
    }
};
inline constinit Locks g_locks;

} // namespace fathom::profile
