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

} // namespace fathom::profile
