#pragma once

#include "agent/gpu/cuda_abi.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace fathom::gpu {

/// The streams of this process that are being captured into graphs. What is launched there does not run, but a call
/// that synchronizes is refused by the driver meanwhile, and ends the capture with an error. Thread-safe.
class Captures {
  public:
    /// Before the driver is asked to begin, with the context that is current then.
    /// @return  false where the stream is captured already.
    bool add(cuda::Stream stream, cuda::Context context);
    /// Nothing where the stream is not captured.
    void remove(cuda::Stream stream);
    void remove_of(cuda::Context context);
    bool is_any() const { return count_.load() != 0; }
    /// None begins as long as the lock lives. The lock owns nothing where there is one.
    std::unique_lock<std::mutex> hold_off();
    /// The same without waiting: the lock owns nothing, too, where somebody else holds captures off.
    std::unique_lock<std::mutex> try_hold_off();

  private:
    static std::uintptr_t key_of(cuda::Stream stream);

    std::mutex mutex_;
    std::map<std::uintptr_t, cuda::Context> streams_;
    std::atomic<std::size_t> count_{0};
};

} // namespace fathom::gpu
