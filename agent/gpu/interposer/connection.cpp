#include "agent/gpu/interposer/share_detail.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

/// The part of Share that speaks to the memory manager.
namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetry = 200ms;
constexpr auto kAnswerWithin = 10s;

} // namespace

/// With the mutex held, or before there are other threads.
bool Share::connect()
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path_.size() >= sizeof(address.sun_path)) return false;
    socket_path_.copy(address.sun_path, socket_path_.size());
    const int made = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made < 0) return false;
    if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        ::close(made);
        return false;
    }
    socket_ = made;
    is_left_unanswered_ = false;
    const char* const job = std::getenv("FATHOM_GPU_JOB");
    const char* const share = std::getenv("FATHOM_GPU_SHARE");
    const char* const priority = std::getenv("FATHOM_GPU_PRIORITY");
    return send(with_text({.type = MessageType::kHello,
                           .first = ::getpid(),
                           .second = share == nullptr ? 1000 : std::strtoll(share, nullptr, 10),
                           .third = priority == nullptr ? 0 : std::strtoll(priority, nullptr, 10)},
                          job == nullptr ? "" : job));
}

void Share::tell_of_absence() const
{
    tell("the memory manager does not answer at " + socket_path_ + "; until it does, this job shares nothing");
}

/// Not where a process begins: it may be a child that never uses a GPU.
bool Share::has_manager(Lock& lock)
{
    if (socket_ < 0 && std::chrono::steady_clock::now() < wait_until_ &&
        !changed_.wait_until(lock, wait_until_, [&] { return socket_ >= 0; }))
        tell_of_absence();
    return socket_ >= 0;
}

bool Share::send(const Message& message)
{
    if (socket_ < 0) return false;
    ssize_t sent = 0;
    do {
        sent = ::send(socket_, &message, sizeof(message), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    // A connection that broke is found by who reads from it.
    return sent == static_cast<ssize_t>(sizeof(message));
}

std::optional<Message> Share::ask(const Message& message, Lock& lock)
{
    changed_.wait(lock, [&] { return !is_asking_; });
    if (socket_ < 0) return std::nullopt;
    is_asking_ = true;
    answer_.reset();
    const int asked = socket_;
    std::optional<Message> answer;
    if (send(message) &&
        changed_.wait_for(lock, kAnswerWithin, [&] { return answer_.has_value() || socket_ != asked; }))
        answer = answer_;
    is_asking_ = false;
    changed_.notify_all();
    return answer;
}

/// The thread that reads, for as long as the process lives. The manager may end and begin anew at any time: who has the
/// turn keeps it, and the others wait for it to come back.
void Share::run()
{
    while (true) {
        int reading = -1;
        {
            const Lock lock(mutex_);
            if (socket_ < 0 && connect()) {
                say_all();
                changed_.notify_all();
            }
            reading = socket_;
        }
        if (reading < 0) {
            std::this_thread::sleep_for(kRetry);
            continue;
        }
        Message message;
        const ssize_t got = ::recv(reading, &message, sizeof(message), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got == static_cast<ssize_t>(sizeof(message)) && message.version == kProtocolVersion) {
            receive(message);
            continue;
        }
        Lock lock(mutex_);
        ::close(socket_);
        socket_ = -1;
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
    if (unanswered_ > 0 && message.type != MessageType::kGrown && message.type != MessageType::kLeft) {
        --unanswered_;
        // What this process has cannot be refused: it comes back until its memory is in the manager's books.
        if (message.type == MessageType::kRefused && message.first != kNotShared) ::shutdown(socket_, SHUT_RDWR);
        return;
    }
    answer_ = message;
    changed_.notify_all();
}

void Share::receive(const Message& message)
{
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
        take_turn(lock);
        return;
    case MessageType::kEndAfterIteration:
        is_to_end_after_iteration_ = true;
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
        return; // ours
    }
}

} // namespace fathom::gpu
