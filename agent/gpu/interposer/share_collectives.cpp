#include "agent/gpu/interposer/share_detail.hpp"

/// The part of Share that knows of communicators, whose processes wait for each other in kernels.
namespace fathom::gpu {

/// Whether the turn is given back first: what follows is for the next one.
bool Share::ends_before_collective(Lock& lock)
{
    const std::int64_t until = collectives_until_.load();
    return until > 0 && collectives_.load() >= until && give_back(TurnEnd::kWithinIteration, lock);
}

void Share::begin_collective(bool is_counted)
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
    if (is_counted) collectives_.fetch_add(1);
    end_work();
    if (!is_counted || !is_to_end_after_iteration_.load()) return;
    // Not where the lock is had: who has it may wait for what this call is to begin. Nor to a manager that does not
    // read: the next one tells as much.
    if (const Lock lock(mutex_, std::try_to_lock); lock.owns_lock() && unsent_.empty()) tell_collectives();
}

/// What others of its job may have to do yet before this process can end its turn.
void Share::tell_collectives()
{
    if (!communicators_.empty()) (void)send({.type = MessageType::kCollectives, .first = collectives_.load()});
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

bool Share::tell_communicator(bool joins)
{
    return send(with_text({.type = MessageType::kCommunicator, .first = joins ? 1 : 0, .second = first_ranks_},
                          first_communicator_));
}

/// Only the first is told, and the end of the last: a program may have any number of them, and by the first one its
/// processes know each other, also those that a manager which began anew hears of.
void Share::join_communicator(const void* key, std::int64_t ranks, const std::string& name)
{
    if (socket_path_.empty() || ranks < 2) return;
    const Lock lock(mutex_);
    const bool is_first = communicators_.empty();
    communicators_.insert(key);
    if (!is_first) return;
    first_communicator_ = name;
    first_ranks_ = ranks;
    (void)tell_communicator(true);
}

void Share::rename_communicator(const void* key, const void* new_key)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    // There is one of that address already where it ended without a word.
    if (communicators_.erase(key) != 0) communicators_.insert(new_key);
}

void Share::leave_communicator(const void* key)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    if (communicators_.erase(key) != 0 && communicators_.empty()) (void)tell_communicator(false);
}

} // namespace fathom::gpu
