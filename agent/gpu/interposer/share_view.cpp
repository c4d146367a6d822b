#include "agent/gpu/interposer/share_detail.hpp"

#include <algorithm>

/// The part of Share that says how much memory there is: what a process has, and what it could still get.
namespace fathom::gpu {

std::optional<MemoryView> Share::view_of_current()
{
    if (socket_path_.empty()) return std::nullopt;
    Lock lock(mutex_);
    const OwnGpu* const gpu = current_gpu(lock);
    return gpu == nullptr ? std::nullopt : view(gpu->id, gpu, lock);
}

/// Programs ask for a device's size before they use it: that alone admits nobody.
std::optional<MemoryView> Share::view_of(cuda::Device device)
{
    if (socket_path_.empty()) return std::nullopt;
    Lock lock(mutex_);
    const OwnGpu* const gpu = known_gpu(device);
    if (gpu == nullptr) return std::nullopt;
    (void)has_manager(lock);
    return view(gpu->id, gpu, lock);
}

std::optional<MemoryView> Share::view_of(const std::string& gpu)
{
    if (socket_path_.empty()) return std::nullopt;
    Lock lock(mutex_);
    const auto used =
        std::find_if(gpus_.begin(), gpus_.end(), [&](const auto& entry) { return entry.second.id == gpu; });
    return view(gpu, used == gpus_.end() ? nullptr : &used->second, lock);
}

/// Nothing where the manager is away, or of a release that does not know the question: that one is asked only once.
std::optional<Message> Share::ask_left(const std::string& id, Lock& lock)
{
    if (is_left_unanswered_) return std::nullopt;
    const std::uint64_t asked = socket_.number;
    std::optional<Message> left = ask(with_text({.type = MessageType::kAskLeft}, id), lock);
    is_left_unanswered_ = !left && asked != 0 && socket_.number == asked;
    if (left && left->type != MessageType::kLeft) return std::nullopt;
    return left;
}

/// What is free: the rest of its rooms, and what they can grow by.
std::optional<MemoryView> Share::view(const std::string& id, const OwnGpu* gpu, Lock& lock)
{
    const std::optional<Message> left = ask_left(id, lock);
    const bool is_placed = gpu != nullptr && gpu->is_placed;
    const bool is_told = left.has_value();
    if (is_told && left->first < 0) return std::nullopt; // no GPU that jobs share
    const bool has_others = is_told && left->second != 0;
    // Where the manager is away, what was promised still is.
    if (!has_others && !(is_shared_ && (is_told || is_placed))) return std::nullopt;

    std::int64_t free = is_told ? left->first : 0;
    std::int64_t used = 0;
    if (gpu != nullptr) {
        const std::int64_t persistent = signed_of(gpu->persistent_bytes());
        const std::int64_t temporary = signed_of(gpu->temporary.extent_bytes());
        used = persistent + temporary;
        free += std::max<std::int64_t>(gpu->place.persistent_room_bytes - persistent, 0) +
                std::max<std::int64_t>(gpu->place.temporary_room_bytes - temporary, 0);
    }
    const std::int64_t total = used + free;
    if (gpu != nullptr && gpu->is_refused) free = 0;
    return MemoryView{static_cast<std::size_t>(free), static_cast<std::size_t>(total)};
}

} // namespace fathom::gpu
