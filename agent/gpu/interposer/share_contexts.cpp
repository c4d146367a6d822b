#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share_detail.hpp"

#include <utility>
#include <vector>

/// The part of Share that knows the program's contexts: what belongs to each, and who may use another GPU's memory.
namespace fathom::gpu {

void Share::note_context(cuda::Context context, cuda::Device device)
{
    if (socket_path_.empty() || context == nullptr) return;
    const Lock lock(mutex_);
    if (OwnGpu* const gpu = known_gpu(device)) gpu->contexts.insert(context);
}

void Share::give_access(OwnGpu& gpu, cuda::Device peer)
{
    gpu.persistent.give_access(peer);
    gpu.temporary.give_access(peer);
}

/// For memory that the driver allocates, it would do so itself. What is mapped, each GPU must be allowed to use.
void Share::note_peer(cuda::Context peer)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    cuda::Device user = 0;
    cuda::Device owner = 0;
    if (driver().ctx_get_device(&user) != cuda::kSuccess) return;
    {
        const CurrentContext current(peer);
        if (current.status() != cuda::kSuccess || driver().ctx_get_device(&owner) != cuda::kSuccess) return;
    }
    if (OwnGpu* const gpu = known_gpu(owner)) give_access(*gpu, user);
}

void Share::note_pool_peer(cuda::Device peer)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    pool_peers_.insert(peer);
    for (auto& [device, gpu] : gpus_)
        give_access(gpu, peer);
}

void Share::own_by_current(std::uint64_t key)
{
    cuda::Context context = nullptr;
    (void)driver().ctx_get_current(&context);
    owners_[key] = context;
}

/// All that the program has launched on a GPU, in whatever context.
void Share::synchronize(const OwnGpu& gpu)
{
    for (const cuda::Context context : gpu.contexts) {
        const CurrentContext current(context);
        if (current.status() == cuda::kSuccess) (void)driver().ctx_synchronize();
    }
}

/// Of a GPU of which the program has no context any longer. The driver has taken what it had allocated itself; what
/// this library has mapped is still there; what the program has mapped, or has from a pool, is no context's and stays.
void Share::drop(OwnGpu& gpu)
{
    for (Region* region : {&gpu.persistent, &gpu.temporary}) {
        live_bytes_ -= signed_of(region->used_bytes());
        std::erase_if(released_in_capture_,
                      [&](cuda::Address address) { return region->block_at(address).has_value(); });
        std::erase_if(owners_, [&](const auto& entry) { return region->block_at(entry.first).has_value(); });
        region->clear();
    }
    for (auto it = gpu.native.begin(); it != gpu.native.end();) {
        if (handles_.contains(it->first) || !owners_.contains(it->first)) {
            ++it;
            continue;
        }
        gpu.native_bytes -= it->second;
        live_bytes_ -= signed_of(it->second);
        variables_.erase(reinterpret_cast<void*>(it->first));
        owners_.erase(it->first);
        it = gpu.native.erase(it);
    }
}

/// What was allocated in one context of several: the others have theirs still.
void Share::drop_owned(cuda::Context context)
{
    std::vector<std::uint64_t> keys;
    for (const auto& [key, owner] : owners_) {
        if (owner == context && !handles_.contains(key)) keys.push_back(key);
    }
    for (const std::uint64_t key : keys) {
        if (drop_native(key)) {
            variables_.erase(reinterpret_cast<void*>(key));
            continue;
        }
        const std::unique_lock<std::mutex> no_capture = captures_.hold_off();
        if (no_capture.owns_lock())
            (void)release_block(key, false);
        else
            released_in_capture_.push_back(key);
    }
}

void Share::drop_context(cuda::Context context)
{
    if (context == nullptr) return;
    captures_.remove_of(context);
    Lock lock(mutex_);
    for (auto& [device, gpu] : gpus_) {
        if (gpu.contexts.erase(context) == 0) continue;
        if (gpu.context == context) gpu.context = gpu.contexts.empty() ? nullptr : *gpu.contexts.begin();
        if (gpu.contexts.empty()) drop(gpu);
    }
    drop_owned(context);
    finish_captures(lock);
}

} // namespace fathom::gpu
