#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share_detail.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>
#include <utility>

/// The part of Share that gives and takes the turn, and knows when an iteration ends.
namespace fathom::gpu {
namespace {

using Clock = std::chrono::steady_clock;

/// What is told of kernels is for people, and for what is learned of runs.
constexpr std::chrono::seconds kTellKernelsEvery{1};

} // namespace

void Share::begin_work()
{
    while (true) {
        // In this order: who gives the turn back forbids first, and looks at the count then.
        running_.fetch_add(1);
        if (may_run_.load()) return;
        running_.fetch_sub(1);
        Lock lock(mutex_);
        wait_for_turn(lock);
    }
}

void Share::wait_for_turn(Lock& lock)
{
    while (is_shared_ && !has_turn_) {
        if (!wants_) wants_ = send({.type = MessageType::kWant});
        changed_.wait(lock);
    }
}

bool Share::give_back(TurnEnd end, Lock& /*held*/)
{
    if (!is_shared_ || !has_turn_) return false;
    const auto began = Clock::now();
    may_run_.store(false);
    while (running_.load() != 0)
        std::this_thread::yield();
    // Nothing of a capture runs, but what follows would end it with an error. What a collective call has begun on one
    // GPU it has to begin on all.
    // In this order: who ends the last call looks then whether the turn is to end.
    is_to_end_after_capture_.store(true);
    if (captures_.is_any() || collectives_running_.load() != 0) {
        may_run_.store(true);
        return false;
    }
    is_to_end_after_capture_.store(false);
    // Before this process waits for its work, which may wait for other processes.
    tell_collectives();
    std::size_t moved = std::exchange(moved_back_bytes_, 0);
    std::size_t stayed = 0;
    for (const auto& [device, gpu] : gpus_)
        synchronize(gpu); // all before any is taken away: what runs on one GPU may use another's memory
    for (auto& [device, gpu] : gpus_) {
        if (gpu.context == nullptr) continue;
        const CurrentContext context(gpu.context);
        const std::optional<std::size_t> copied = take_away(gpu, end);
        if (!copied) {
            tell("keeps the GPU: the host has no memory for what this job's temporary memory holds");
            may_run_.store(true);
            return false;
        }
        moved += *copied;
        if (!swaps_all_) stayed += gpu.persistent_bytes();
        report_use(gpu);
    }
    has_turn_ = is_to_end_after_iteration_ = is_to_end_after_capture_ = wants_ = false;
    collectives_until_.store(0);
    turns_ended_.fetch_add(1);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began + std::exchange(took_back_, {}))
            .count();
    (void)send({.type = MessageType::kGiveBack,
                .first = end == TurnEnd::kWithinIteration ? 0 : 1,
                .second = signed_of(moved),
                .third = took,
                .fourth = signed_of(stayed)});
    return true;
}

/// Whether others still wait for this process's turn, as far as it can know. The thread that reads what the manager
/// says may be waiting for the GPU, so that the news is unread.
bool Share::does_somebody_wait(const ManagerSocket& asked_by)
{
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return others_wait_ && do_others_wait(asked_by);
    // Another manager asks for the turn itself.
    return is_shared_ && has_turn_ && socket_.number == asked_by.number;
}

/// Ends this process if it has not given its turn back by then: a kernel that does not end, or a call that does not
/// return, would keep all others waiting, and nothing but the end of its process takes it off the GPU.
void Share::watch_turn(std::int64_t limit_ms)
{
    if (!is_shared_ || !has_turn_) return;
    const std::uint64_t turn = turns_ended_.load();
    start_thread([this, turn, socket = socket_, limit = std::chrono::milliseconds(limit_ms)] {
        std::this_thread::sleep_for(limit);
        if (turns_ended_.load() != turn || !does_somebody_wait(socket)) return;
        tell("this job did not give the GPU back when its time was over, and others wait; it is ended");
        ::kill(::getpid(), SIGKILL);
    });
}

std::optional<std::size_t> Share::take_away(OwnGpu& gpu, TurnEnd end) const
{
    const std::optional<std::size_t> temporary = gpu.temporary.take_away(end == TurnEnd::kIterationTold && !swaps_all_);
    if (!temporary || !swaps_all_) return temporary;
    const std::optional<std::size_t> persistent = gpu.persistent.take_away(false);
    if (persistent) return *temporary + *persistent;
    return gpu.temporary.bring_back() ? std::nullopt : temporary;
}

bool Share::bring_back_all(std::size_t& copied)
{
    for (auto& [device, gpu] : gpus_) {
        if (gpu.context == nullptr) continue;
        const CurrentContext context(gpu.context);
        const std::optional<std::size_t> bytes = gpu.temporary.bring_back();
        if (!bytes) return false;
        copied += *bytes;
        if (!swaps_all_) continue;
        const std::optional<std::size_t> persistent = gpu.persistent.bring_back();
        if (!persistent) return false;
        copied += *persistent;
    }
    return true;
}

void Share::take_turn(Lock& lock)
{
    const auto began = Clock::now();
    std::size_t copied = 0;
    for (int tries = 0; !bring_back_all(copied); ++tries) {
        if (tries == kMaxTries) tell("waits for memory that it was promised and the GPU has not free");
        changed_.wait_for(lock, kTryAgain);
    }
    moved_back_bytes_ = copied;
    took_back_ = Clock::now() - began;
    has_turn_ = true;
    wants_ = is_to_end_after_iteration_ = is_to_end_after_capture_ = false;
    may_run_.store(true);
    changed_.notify_all();
}

void Share::set_shared(bool is_shared, bool has_turn, Lock& lock)
{
    if (is_shared == is_shared_) return;
    is_shared_ = is_shared;
    if (!is_shared) {
        turns_ended_.fetch_add(1); // nobody waits for it any longer: its watch is over
        if (!has_turn_) take_turn(lock);
        is_to_end_after_iteration_ = is_to_end_after_capture_ = false;
        return;
    }
    // Who was alone goes on, until it is told to give the turn back. Who comes has nothing yet.
    if (has_turn) return;
    may_run_.store(false);
    has_turn_ = wants_ = false;
}

bool Share::is_turn_over()
{
    if (socket_path_.empty()) return false;
    const Lock lock(mutex_);
    return is_shared_ && is_to_end_after_iteration_ && !captures_.is_any();
}

bool Share::is_shared()
{
    if (socket_path_.empty()) return false;
    const Lock lock(mutex_);
    return is_shared_;
}

bool Share::end_iteration(std::int64_t source, double confidence)
{
    // An iteration that is captured does not run now, and ends when its graph is launched.
    if (socket_path_.empty() || captures_.is_any()) return false;
    if (source == kIterationByCall) is_told_iterations_.store(true);
    Lock lock(mutex_);
    note_survivors(lock);
    for (auto& [device, gpu] : gpus_) {
        report_use(gpu);
        give_room_back(gpu);
    }
    tell_kernels(lock);
    (void)send(
        {.type = MessageType::kIterationEnd, .first = source, .second = static_cast<std::int64_t>(confidence * 1000)});
    return is_shared_ && is_to_end_after_iteration_ &&
           give_back(source == kIterationByCall ? TurnEnd::kIterationTold : TurnEnd::kIterationFound, lock);
}

/// What was believed to be temporary and outlives its iteration is persistent the next time. What outlives another one,
/// too, stays where it is from now on: else each switch would copy it. One alone may be an end that was found too
/// early.
void Share::note_survivors(Lock& lock)
{
    const std::vector<cuda::Address> stay = std::exchange(survivors_, {});
    for (const auto& [address, event] : alive_) {
        remember(event, false);
        const auto is_there = [block = address](const auto& entry) {
            return entry.second.temporary.bytes_to_pin(block) > 0;
        };
        if (std::any_of(gpus_.begin(), gpus_.end(), is_there)) survivors_.push_back(address);
    }
    alive_.clear();
    ordinal_ = 0;
    // Last, since the lock may be let go of meanwhile.
    for (const cuda::Address block : stay)
        keep_in_place(block, lock);
}

/// Where its GPU has the room, and at least as much is left for others: else it is copied as before.
void Share::keep_in_place(cuda::Address block, Lock& lock)
{
    if (swaps_all_) return;
    for (auto& entry : gpus_) {
        OwnGpu& gpu = entry.second;
        const std::size_t bytes = gpu.temporary.bytes_to_pin(block);
        if (bytes == 0) continue;
        const auto missing = [&gpu, block] {
            return signed_of(gpu.persistent_bytes() + gpu.temporary.bytes_to_pin(block)) -
                   gpu.place.persistent_room_bytes;
        };
        if (missing() > 0) {
            const std::optional<Message> left = ask_left(gpu.id, lock);
            if (!left || left->first < 2 * signed_of(bytes) || missing() <= 0) return;
            const std::optional<Message> answer =
                ask(with_text({.type = MessageType::kGrow,
                               .first = static_cast<std::int64_t>(MemoryKind::kPersistent),
                               .second = missing()},
                              gpu.id),
                    lock);
            if (!answer || answer->type != MessageType::kGrown) return;
            gpu.place.persistent_room_bytes = answer->second;
        }
        // The lock was let go of meanwhile.
        if (missing() <= 0) gpu.temporary.pin(block);
        gpu.most_persistent_bytes = std::max(gpu.most_persistent_bytes, gpu.persistent_bytes());
        return;
    }
}

void Share::note(std::uint64_t event)
{
    if (is_told_iterations_.load(std::memory_order_relaxed)) return;
    bool ended = false;
    double confidence = 0;
    {
        const std::scoped_lock lock(finder_mutex_);
        ended = finder_.add(event, live_bytes_.load(std::memory_order_relaxed));
        if (ended) confidence = finder_.confidence();
    }
    if (ended) (void)end_iteration(kIterationByPattern, confidence);
}

void Share::tell_kernels()
{
    // Who has the mutex may wait for the GPU, which may wait for the next launch of this thread.
    Lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) tell_kernels(lock);
}

void Share::tell_kernels(Lock& /*held*/)
{
    const Clock::time_point now = Clock::now();
    // What waits for a manager that is busy is what it must know. Each figure is of all launches: a later one says all.
    if (now < tell_kernels_at_ || !socket_.is_open() || !unsent_.empty()) return;
    tell_kernels_at_ = now + kTellKernelsEvery;
    for (const KernelFigures& kernel : kernels_.take_news(captures_))
        (void)send(message_of(kernel));
}

void Share::report_use(OwnGpu& gpu)
{
    if (!gpu.is_placed) return;
    const auto report = [&](MemoryKind kind, std::size_t bytes, std::size_t& reported) {
        if (bytes == reported) return;
        reported = bytes;
        (void)send(with_text(
            {.type = MessageType::kUse, .first = static_cast<std::int64_t>(kind), .second = signed_of(bytes)}, gpu.id));
    };
    report(MemoryKind::kPersistent, gpu.persistent_bytes(), gpu.reported_persistent_bytes);
    report(MemoryKind::kTemporary, gpu.most_temporary_bytes, gpu.reported_temporary_bytes);
}

/// What grew in one iteration and was not needed in the next is somebody else's to have: before iterations are known,
/// all memory counts as persistent.
void Share::give_room_back(OwnGpu& gpu)
{
    const std::int64_t needed = std::max(whole_pieces(signed_of(gpu.most_persistent_bytes)), gpu.admitted_room_bytes);
    gpu.most_persistent_bytes = gpu.persistent_bytes();
    gpu.most_temporary_bytes = gpu.temporary.extent_bytes();
    if (!gpu.is_placed || gpu.place.persistent_room_bytes - needed < 2 * growth_bytes(gpu)) return;
    // Until the answer comes, which adds the gap, nothing beyond it is taken.
    gpu.place.persistent_room_bytes = needed;
    (void)send(with_text({.type = MessageType::kShrink, .first = needed}, gpu.id));
}

} // namespace fathom::gpu
