#include "agent/gpu/interposer/share_detail.hpp"

#include <bit>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

/// The part of Share that speaks to the memory manager.
namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetry = 200ms;
constexpr auto kAnswerWithin = 10s;
/// More than a program says while its manager is busy.
constexpr std::size_t kMaxUnsent = 1024;

} // namespace

/// With the mutex held, or before there are other threads.
bool Share::connect()
{
    {
        const std::scoped_lock changing(socket_changes());
        const std::optional<ManagerSocket> made = connect_to_manager(socket_path_, connections_ + 1);
        if (!made) return false;
        ++connections_;
        socket_ = *made;
    }
    is_left_unanswered_ = false;
    const char* const job = std::getenv("FATHOM_GPU_JOB");
    const char* const proof = std::getenv("FATHOM_GPU_PROOF");
    const char* const share = std::getenv("FATHOM_GPU_SHARE");
    const char* const priority = std::getenv("FATHOM_GPU_PRIORITY");
    return send(with_text({.type = MessageType::kHello,
                           .first = ::getpid(),
                           .second = share == nullptr ? 1000 : std::strtoll(share, nullptr, 10),
                           .third = priority == nullptr ? 0 : std::strtoll(priority, nullptr, 10),
                           .fourth = proof == nullptr ? 0 : std::strtoll(proof, nullptr, 10)},
                          job == nullptr ? "" : job)) &&
           tell_kind() && tell_input_size() && (communicators_.empty() || tell_communicator(true));
}

/// Nothing where the environment says nothing of it.
bool Share::tell_kind()
{
    const char* const kind = std::getenv("FATHOM_GPU_KIND");
    const char* const said = std::getenv("FATHOM_GPU_CLASS");
    const std::string_view name = said == nullptr ? "" : said;
    const std::int64_t number = name == "compute" ? kClassCompute : name == "memory" ? kClassMemory : kClassUnknown;
    if (kind == nullptr && number == kClassUnknown) return true;
    return send(with_text({.type = MessageType::kKind, .first = number}, kind == nullptr ? "" : kind));
}

bool Share::tell_input_size()
{
    return input_size_ == 0 ||
           send({.type = MessageType::kInputSize, .first = std::bit_cast<std::int64_t>(input_size_)});
}

void Share::set_input_size(double size)
{
    if (socket_path_.empty() || !(size > 0)) return;
    const Lock lock(mutex_);
    if (std::exchange(input_size_, size) == size) return;
    (void)tell_input_size(); // else the next manager hears it
}

void Share::tell_of_absence() const
{
    tell("the memory manager does not answer at " + socket_path_ + "; until it does, this job shares nothing");
}

/// Not where a process begins: it may be a child that never uses a GPU.
bool Share::has_manager(Lock& lock)
{
    if (!socket_.is_open() && std::chrono::steady_clock::now() < wait_until_ &&
        !changed_.wait_until(lock, wait_until_, [&] { return socket_.is_open(); }))
        tell_of_absence();
    return socket_.is_open();
}

bool Share::send(const Message& message)
{
    if (!socket_.is_open()) return false;
    if (unsent_.empty()) {
        const Sending sending = send_at_once(socket_, message);
        if (sending == Sending::kBroken) shut_down(socket_);
        if (sending != Sending::kFull) return sending == Sending::kSent;
    }
    if (unsent_.size() == kMaxUnsent) {
        shut_down(socket_); // a manager that hangs is away
        return false;
    }
    unsent_.push_back(message);
    if (unsent_.size() > 1 || start_thread([this, connection = socket_.number] { send_rest(connection); })) return true;
    unsent_.clear();
    shut_down(socket_);
    return false;
}

/// The mutex is never held while this process waits for the manager: the thread that reads needs it.
void Share::send_rest(std::uint64_t connection)
{
    while (true) {
        std::this_thread::sleep_for(kTryAgain);
        const Lock lock(mutex_);
        if (socket_.number != connection) return;
        Sending sending = Sending::kSent;
        while (!unsent_.empty() && sending == Sending::kSent) {
            sending = send_at_once(socket_, unsent_.front());
            if (sending == Sending::kSent) unsent_.pop_front();
        }
        if (sending == Sending::kBroken) shut_down(socket_);
        if (sending != Sending::kFull) return;
    }
}

std::optional<Message> Share::ask(const Message& message, Lock& lock)
{
    changed_.wait(lock, [&] { return !question_; });
    if (!socket_.is_open()) return std::nullopt;
    question_ = message;
    answer_.reset();
    const std::uint64_t asked = socket_.number;
    std::optional<Message> answer;
    if (send(message) &&
        changed_.wait_for(lock, kAnswerWithin, [&] { return answer_.has_value() || socket_.number != asked; }))
        answer = answer_;
    question_.reset();
    changed_.notify_all();
    return answer;
}

/// The thread that reads, for as long as the process lives. The manager may end and begin anew at any time: who has the
/// turn keeps it, and the others wait for it to come back.
void Share::run()
{
    while (true) {
        ManagerSocket reading;
        {
            const Lock lock(mutex_);
            if (!socket_.is_open() && connect()) {
                say_all();
                changed_.notify_all();
            }
            reading = socket_;
        }
        if (!reading.is_open()) {
            std::this_thread::sleep_for(kRetry);
            continue;
        }
        if (const std::optional<Message> message = next_message(reading)) {
            receive(*message);
            continue;
        }
        Lock lock(mutex_);
        {
            const std::scoped_lock changing(socket_changes());
            close_socket(socket_);
            socket_ = {};
        }
        unsent_.clear();
        wants_ = false;
        changed_.notify_all();
        lock.unlock();
        std::this_thread::sleep_for(kRetry);
    }
}

/// What a manager that began anew must know: the memory that is there, and who has the turn.
void Share::say_all()
{
    unanswered_ = 0;
    kernels_.forget_told();
    for (auto& [device, gpu] : gpus_) {
        // Where there is nothing yet, its first allocation asks.
        const bool has_memory = gpu.is_placed || gpu.persistent_bytes() > 0 || gpu.temporary.extent_bytes() > 0;
        if (gpu.id.empty() || gpu.is_refused || gpu.is_private || !has_memory) continue;
        gpu.is_said = true;
        gpu.reported_persistent_bytes = gpu.reported_temporary_bytes = 0;
        ++unanswered_;
        (void)send(with_text(
            {.type = MessageType::kUseGpu,
             .first = static_cast<std::int64_t>(gpu.capacity_bytes),
             .second = std::max(gpu.place.persistent_room_bytes, static_cast<std::int64_t>(gpu.persistent_bytes())),
             .third = std::max(gpu.place.temporary_room_bytes, static_cast<std::int64_t>(gpu.temporary.extent_bytes())),
             .fourth = has_turn_ ? kHadTurn : kHadMemory},
            gpu.id));
    }
    if (is_shared_ && !has_turn_) wants_ = send({.type = MessageType::kWant});
}

void Share::take_answer(const Message& message)
{
    if (message.type == MessageType::kPlace) {
        for (auto& [device, gpu] : gpus_) {
            if (gpu.id == text_of(message)) take_place(gpu, message);
        }
    }
    // Growth may be asked for, and refused, before what say_all() said is answered.
    const bool is_of_growth =
        message.type == MessageType::kGrown ||
        (message.type == MessageType::kRefused && message.second == static_cast<std::int64_t>(MessageType::kGrow));
    if (unanswered_ > 0 && !is_of_growth && message.type != MessageType::kLeft) {
        --unanswered_;
        // What this process has cannot be refused: it comes back until its memory is in the manager's books.
        if (message.type == MessageType::kRefused && message.first != kNotShared) shut_down(socket_);
        return;
    }
    // Whoever asked before has not waited so long: that answer is nobody's.
    if (!question_ || !is_answer_to(*question_, message)) return;
    answer_ = message;
    changed_.notify_all();
}

void Share::receive(const Message& message)
{
    if (message.type == MessageType::kShared) others_wait_ = message.first != 0;
    Lock lock(mutex_);
    switch (message.type) {
    case MessageType::kPlace:
    case MessageType::kRefused:
    case MessageType::kGrown:
    case MessageType::kLeft:
        take_answer(message);
        return;
    case MessageType::kRoom:
        for (auto& [device, gpu] : gpus_) {
            if (gpu.id == text_of(message)) gpu.place.persistent_room_bytes = message.first;
        }
        return;
    case MessageType::kShared:
        set_shared(message.first != 0, message.second != 0, lock);
        return;
    case MessageType::kTurn:
        collectives_until_.store(message.first);
        take_turn(lock);
        return;
    case MessageType::kEndAfterIteration:
        is_to_end_after_iteration_ = true;
        tell_collectives();
        if (meetings_ > 0) (void)give_back(TurnEnd::kWithinIteration, lock);
        return;
    case MessageType::kEndNow:
        if (message.first > 0) watch_turn(message.first);
        (void)give_back(TurnEnd::kWithinIteration, lock);
        return;
    case MessageType::kHello:
    case MessageType::kUseGpu:
    case MessageType::kGrow:
    case MessageType::kUse:
    case MessageType::kWant:
    case MessageType::kGiveBack:
    case MessageType::kIterationEnd:
    case MessageType::kShrink:
    case MessageType::kAskLeft:
    case MessageType::kKind:
    case MessageType::kCommunicator:
    case MessageType::kCollectives:
    case MessageType::kKernel:
    case MessageType::kInputSize:
        return; // ours
    }
}

} // namespace fathom::gpu
