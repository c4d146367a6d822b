#include "agent/gpu/interposer/captures.hpp"

#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

#include <utility>

namespace fathom::gpu {

std::uintptr_t Captures::key_of(cuda::Stream stream)
{
    thread_local const char thread = 0;
    const auto number = reinterpret_cast<std::uintptr_t>(stream);
    return number == 0 || number == cuda::kStreamPerThread ? reinterpret_cast<std::uintptr_t>(&thread) : number;
}

bool Captures::add(cuda::Stream stream, cuda::Context context)
{
    const std::scoped_lock lock(mutex_);
    const bool is_new = streams_.emplace(key_of(stream), context).second;
    count_.store(streams_.size());
    return is_new;
}

void Captures::remove(cuda::Stream stream)
{
    const std::scoped_lock lock(mutex_);
    streams_.erase(key_of(stream));
    count_.store(streams_.size());
}

void Captures::remove_of(cuda::Context context)
{
    const std::scoped_lock lock(mutex_);
    std::erase_if(streams_, [&](const auto& entry) { return entry.second == context; });
    count_.store(streams_.size());
}

std::unique_lock<std::mutex> Captures::hold_off()
{
    std::unique_lock lock(mutex_);
    if (!streams_.empty()) lock.unlock();
    return lock;
}

std::unique_lock<std::mutex> Captures::try_hold_off()
{
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && !streams_.empty()) lock.unlock();
    return lock;
}

bool Share::add_capture(cuda::Stream stream)
{
    cuda::Context context = nullptr;
    (void)driver().ctx_get_current(&context);
    return captures_.add(stream, context);
}

void Share::end_capture(cuda::Stream stream)
{
    captures_.remove(stream);
    if (captures_.is_any()) return;
    Lock lock(mutex_);
    finish_captures(lock);
}

/// What had to wait for the end of all captures.
void Share::finish_captures(Lock& lock)
{
    {
        const std::unique_lock<std::mutex> no_capture = captures_.hold_off();
        if (!no_capture.owns_lock()) return;
        for (const cuda::Address address : std::exchange(released_in_capture_, {}))
            (void)release_block(address, false);
    }
    if (collectives_running_.load() != 0) return;
    if (is_to_end_after_capture_.exchange(false)) (void)give_back(TurnEnd::kWithinIteration, lock);
}

} // namespace fathom::gpu
