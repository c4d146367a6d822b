#include "agent/gpu/memory/memory_service.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/base/open_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>

namespace fathom::gpu {
namespace {

/// What a program has not read yet; more, and it is disconnected.
constexpr std::size_t kMaxUnread = 64;
constexpr double kStateEvery_s = 0.2;
constexpr int kBacklog = 4096;

double now_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

Result<OpenFile> listen_for_programs(const std::filesystem::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.empty() || text.size() >= sizeof(address.sun_path))
        return Error{Errc::kInvalid, "the path of a Unix socket must have 1 to 107 bytes: " + text};
    text.copy(address.sun_path, text.size());
    OpenFile made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::unlink(text.c_str());
    if (made.number() < 0 || ::bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::chmod(text.c_str(), 0666) != 0 || ::listen(made.number(), kBacklog) != 0)
        return Error{Errc::kUnavailable, "cannot listen at " + text + ": " + error_text(errno)};
    return made;
}

class MemoryService::Loop {
  public:
    Loop(MemoryServiceSettings settings, Coordinator coordinator, OpenFile listener)
        : settings_(std::move(settings)), coordinator_(std::move(coordinator)), listener_(std::move(listener)),
          wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), poll_(::epoll_create1(EPOLL_CLOEXEC))
    {
        watch(listener_.number(), 0);
        watch(wake_.number(), 0);
    }

    void start()
    {
        thread_ = std::thread([this] { run(); });
    }

    void stop()
    {
        is_stopping_ = true;
        const std::uint64_t one = 1;
        (void)!::write(wake_.number(), &one, sizeof(one));
        if (thread_.joinable()) thread_.join();
        if (!settings_.socket.empty()) ::unlink(settings_.socket.c_str());
    }

    GpuMemoryReport report() const
    {
        const std::scoped_lock lock(mutex_);
        return coordinator_.report();
    }

    void know_pairs(std::span<const GpuPair> pairs)
    {
        const std::scoped_lock lock(mutex_);
        coordinator_.know_pairs(pairs);
    }

  private:
    struct Connection {
        OpenFile socket;
        OpenFile process; ///< who connected, even where its number is another's meanwhile
        pid_t number{};
        uid_t user{};
        std::deque<Message> unread;
    };

    void watch(int descriptor, std::uint64_t client) const
    {
        epoll_event event{};
        event.events = EPOLLIN;
        // Clients by number, from 1; ours by descriptor, above.
        event.data.u64 = client != 0 ? client : (1ULL << 63U) | static_cast<std::uint64_t>(descriptor);
        ::epoll_ctl(poll_.number(), EPOLL_CTL_ADD, descriptor, &event);
    }

    void want_to_write(ClientId id, int socket, bool is_wanted) const
    {
        epoll_event event{};
        event.events = EPOLLIN | (is_wanted ? EPOLLOUT : 0U);
        event.data.u64 = id;
        ::epoll_ctl(poll_.number(), EPOLL_CTL_MOD, socket, &event);
    }

    int wait_ms() const
    {
        const double now = now_s();
        double next = coordinator_.next_moment_s();
        if (!settings_.state_file.empty() && coordinator_.is_changed()) next = std::min(next, state_at_s_);
        if (!std::isfinite(next)) return -1;
        return static_cast<int>(std::clamp(std::ceil((next - now) * 1000), 0.0, 60'000.0));
    }

    void run()
    {
        std::array<epoll_event, 256> events{};
        while (!is_stopping_) {
            const int count = ::epoll_wait(poll_.number(), events.data(), static_cast<int>(events.size()), wait_ms());
            const std::scoped_lock lock(mutex_);
            for (int i = 0; i < count; ++i)
                handle(events[static_cast<std::size_t>(i)]);
            coordinator_.tick(now_s());
            end_hung();
            send_all();
            write_state();
        }
    }

    void handle(const epoll_event& event)
    {
        const std::uint64_t id = event.data.u64;
        if (id >> 63U) {
            if (static_cast<int>(id & 0x7fffffffU) == listener_.number()) accept_all();
            return;
        }
        if ((event.events & EPOLLOUT) != 0) write_to(id);
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_from(id);
    }

    void accept_all()
    {
        while (true) {
            OpenFile socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (socket.number() < 0 && (errno == EMFILE || errno == ENFILE) && turn_away()) continue;
            if (socket.number() < 0) return;
            ucred peer{};
            socklen_t size = sizeof(peer);
            if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
            if (const char* const why = reason_to_refuse(peer.uid)) {
                log_limited("gpu_memory_client_refused", {{"uid", peer.uid}, {"pid", peer.pid}, {"why", why}});
                continue;
            }
            const ClientId id = ++last_client_;
            watch(socket.number(), id);
            ++of_user_[peer.uid];
            coordinator_.connect(id, peer.pid, peer.uid);
            connections_.emplace(id, Connection{std::move(socket), process_of(peer.pid), peer.pid, peer.uid, {}});
        }
    }

    /// Where no descriptor is left, who connects would wait for ever, and this thread would not rest.
    /// @return  whether there was somebody.
    bool turn_away()
    {
        if (spare_.number() < 0) return false;
        spare_ = OpenFile();
        OpenFile refused(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        const bool is_somebody = refused.number() >= 0;
        refused = OpenFile();
        spare_ = open_spare();
        if (is_somebody) log_limited("gpu_memory_client_refused", {{"why", "no descriptor is left"}});
        return is_somebody;
    }

    static OpenFile open_spare() { return OpenFile(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

    /// A process that is never ended needs no descriptor.
    OpenFile process_of(pid_t process) const
    {
        if (settings_.coordinator.turns.most_overrun_s <= 0) return OpenFile();
        return OpenFile(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    }

    const char* reason_to_refuse(uid_t user) const
    {
        if (settings_.may_connect && !settings_.may_connect(user)) return "it is not a job's";
        if (connections_.size() >= settings_.most_connections) return "there are as many programs as may be";
        const auto found = of_user_.find(user);
        if (found != of_user_.end() && found->second >= settings_.most_connections_of_user)
            return "its user has as many programs as may be";
        return nullptr;
    }

    void read_from(ClientId id)
    {
        // One program must not keep the others waiting.
        for (int i = 0; i < 64; ++i) {
            const auto found = connections_.find(id);
            if (found == connections_.end()) return;
            std::array<char, sizeof(Message) + 1> bytes{};
            const ssize_t got = ::recv(found->second.socket.number(), bytes.data(), bytes.size(), 0);
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
            Message message;
            if (got == static_cast<ssize_t>(sizeof(message))) std::memcpy(&message, bytes.data(), sizeof(message));
            if (got != static_cast<ssize_t>(sizeof(message)) || message.version != kProtocolVersion) {
                if (got > 0) log_limited("gpu_memory_client_breaks_protocol", {{"client", id}});
                close(id);
                return;
            }
            message.text.back() = '\0';
            coordinator_.receive(id, message, now_s());
        }
    }

    void close(ClientId id)
    {
        const auto found = connections_.find(id);
        if (found == connections_.end()) return;
        if (--of_user_[found->second.user] == 0) of_user_.erase(found->second.user);
        connections_.erase(found);
        coordinator_.disconnect(id, now_s());
    }

    /// What a process has on a GPU only goes with the process.
    void end_hung()
    {
        for (const ClientId id : coordinator_.take_hung()) {
            const auto found = connections_.find(id);
            if (found == connections_.end()) continue;
            const Connection& one = found->second;
            const bool is_ended = ::syscall(SYS_pidfd_send_signal, one.process.number(), SIGKILL, nullptr, 0) == 0;
            const std::string what =
                is_ended ? "is ended" : "cannot be ended, and others wait for it: " + error_text(errno);
            log_error("gpu_memory_program_hangs", {{"pid", one.number}, {"uid", one.user}, {"what", what}});
        }
    }

    /// Whom it disconnects changes what is to be sent, so that it goes on until there is nothing.
    void send_all()
    {
        for (std::vector<Outgoing> all = coordinator_.take_outgoing(); !all.empty();
             all = coordinator_.take_outgoing()) {
            for (const Outgoing& one : all) {
                const auto found = connections_.find(one.to);
                if (found == connections_.end()) continue;
                found->second.unread.push_back(one.message);
                if (found->second.unread.size() > kMaxUnread) {
                    log_limited("gpu_memory_client_does_not_read", {{"client", one.to}});
                    close(one.to);
                    continue;
                }
                write_to(one.to);
            }
        }
    }

    void write_to(ClientId id)
    {
        const auto found = connections_.find(id);
        if (found == connections_.end()) return;
        Connection& connection = found->second;
        while (!connection.unread.empty()) {
            const Message& message = connection.unread.front();
            const ssize_t sent = ::send(connection.socket.number(), &message, sizeof(message), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0 && errno == EAGAIN) {
                want_to_write(id, connection.socket.number(), true);
                return;
            }
            // A connection that broke is closed by who reads from it.
            if (sent < 0) return;
            connection.unread.pop_front();
        }
        want_to_write(id, connection.socket.number(), false);
    }

    void write_state()
    {
        const double now = now_s();
        if (settings_.state_file.empty() || !coordinator_.is_changed() || now < state_at_s_) return;
        state_at_s_ = now + kStateEvery_s;
        coordinator_.clear_changed();
        const Result<void> written =
            write_file_unflushed(settings_.state_file, to_json(coordinator_.report()).dump() + "\n");
        if (!written) log_warning("gpu_memory_state_not_written", {{"why", written.error().detail}});
    }

    MemoryServiceSettings settings_;
    mutable std::mutex mutex_;
    Coordinator coordinator_;
    OpenFile listener_;
    OpenFile wake_;
    OpenFile poll_;
    OpenFile spare_ = open_spare(); ///< a descriptor to turn newcomers away with
    std::unordered_map<ClientId, Connection> connections_;
    std::unordered_map<uid_t, std::size_t> of_user_;
    ClientId last_client_{};
    double state_at_s_{};
    std::atomic<bool> is_stopping_{false};
    std::thread thread_;
};

Result<std::unique_ptr<MemoryService>> MemoryService::start(MemoryServiceSettings settings)
{
    Result<OpenFile> listener = listen_for_programs(settings.socket);
    if (!listener) return listener.error();
    return start(std::move(settings), std::move(*listener));
}

Result<std::unique_ptr<MemoryService>> MemoryService::start(MemoryServiceSettings settings, OpenFile listener)
{
    Result<Coordinator> coordinator = Coordinator::make(settings.coordinator, now_s());
    if (!coordinator) return coordinator.error();
    auto loop = std::make_unique<Loop>(std::move(settings), std::move(*coordinator), std::move(listener));
    loop->start();
    return std::unique_ptr<MemoryService>(new MemoryService(std::move(loop)));
}

MemoryService::MemoryService(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

MemoryService::~MemoryService()
{
    loop_->stop();
}

GpuMemoryReport MemoryService::report() const
{
    return loop_->report();
}

void MemoryService::know_pairs(std::span<const GpuPair> pairs)
{
    loop_->know_pairs(pairs);
}

} // namespace fathom::gpu
