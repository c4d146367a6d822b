#include "agent/gpu/interposer/share_detail.hpp"

#include <algorithm>
#include <utility>

/// The part of Share that knows of communicators, whose processes wait for each other in kernels.
namespace fathom::gpu {

/// Whether the turn is given back first: what follows is for the next one.
bool Share::ends_before_collective(Lock& lock)
{
    const std::int64_t until = collectives_until_.load();
    return until > 0 && collectives_.load() >= until && give_back(TurnEnd::kWithinIteration, lock);
}

void Share::begin_collective()
{
    if (socket_path_.empty()) return;
    while (true) {
        begin_work();
        const std::int64_t until = collectives_until_.load();
        if (until == 0 || collectives_.load() < until || collectives_running_.load() != 0) break;
        end_work();
        Lock lock(mutex_);
        if (!ends_before_collective(lock)) collectives_until_.store(0);
    }
    // In this order: who gives the turn back looks at these calls once no work begins.
    collectives_running_.fetch_add(1);
    collectives_.fetch_add(1);
    end_work();
}

void Share::end_collective()
{
    if (socket_path_.empty() || collectives_running_.fetch_sub(1) > 1) return;
    // Without the lock where nothing is to be done: who has it may wait for this process's work, and that for what
    // this thread does next.
    if (!is_to_end_after_capture_.load() || captures_.is_any()) return;
    Lock lock(mutex_);
    finish_captures(lock);
}

void Share::begin_meeting()
{
    if (socket_path_.empty()) return;
    Lock lock(mutex_);
    ++meetings_;
    if (is_to_end_after_iteration_) (void)give_back(TurnEnd::kWithinIteration, lock);
}

void Share::end_meeting()
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    --meetings_;
}

bool Share::tell_communicator(std::int64_t ranks, const std::string& name, bool joins)
{
    return send(with_text({.type = MessageType::kCommunicator, .first = joins ? 1 : 0, .second = ranks}, name));
}

/// What a manager that began anew must know.
bool Share::tell_communicators()
{
    return std::all_of(communicators_.begin(), communicators_.end(), [this](const auto& entry) {
        return tell_communicator(entry.second.ranks, entry.second.name, true);
    });
}

void Share::join_communicator(const void* key, std::int64_t ranks, const std::string& name)
{
    if (socket_path_.empty() || ranks < 2) return;
    const Lock lock(mutex_);
    if (!communicators_.emplace(key, Communicator{ranks, name}).second) return;
    (void)tell_communicator(ranks, name, true);
}

void Share::rename_communicator(const void* key, const void* new_key)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    const auto found = communicators_.find(key);
    if (found == communicators_.end()) return;
    Communicator one = std::move(found->second);
    communicators_.erase(found);
    const std::int64_t ranks = one.ranks;
    const std::string name = one.name;
    // One of that address that ended without a word.
    if (!communicators_.insert_or_assign(new_key, std::move(one)).second) (void)tell_communicator(ranks, name, false);
}

void Share::leave_communicator(const void* key)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    const auto found = communicators_.find(key);
    if (found == communicators_.end()) return;
    const Communicator one = std::move(found->second);
    communicators_.erase(found);
    (void)tell_communicator(one.ranks, one.name, false);
}

} // namespace fathom::gpu
