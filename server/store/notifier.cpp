#include "server/store/notifier.hpp"

#include "core/base/log.hpp"
#include "server/store/connection_string.hpp"
#include "server/store/statement.hpp"

#include <atomic>
#include <chrono>
#include <libpq-fe.h>
#include <map>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr const char* kListen = "LISTEN fathom";
constexpr Statement kNotify{"store_notify", "SELECT pg_notify('fathom', $1 || ' ' || $2)"};

constexpr auto kFirstPause = 100ms;
constexpr auto kMaxPause = 5000ms;
// Asks for a sign of life when nothing came for so long: a peer that vanished sends no FIN.
constexpr auto kProbeEvery = 15000ms;

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

bool run_command(PGconn* connection, const char* command)
{
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, command), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

void ignore_notice(void*, const char*) {}

} // namespace

struct Notifier::State {
    std::string url;
    std::multimap<std::string, Callback> subscribers;
    std::atomic<bool> stopping{false};
    int wake = -1; // eventfd: stop() was called
    std::thread thread;

    void run();
    Connection connect();
    void listen(PGconn* connection);
    bool dispatch_pending(PGconn* connection);
    void dispatch(const std::string& message);
    void call(const Callback& callback, const std::string& payload);
    void call_all();
    /// Waits for the socket (or -1 for none) or stop(). True when the socket is readable.
    bool wait(int socket, std::chrono::milliseconds limit) const;
};

Notifier::Notifier(std::string url) : state_(std::make_unique<State>())
{
    state_->url = std::move(url);
    state_->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    FATHOM_ASSERT(state_->wake >= 0);
}

Notifier::~Notifier()
{
    stop();
    close(state_->wake);
}

void Notifier::subscribe(std::string topic, Callback callback)
{
    FATHOM_ASSERT(!state_->thread.joinable());
    state_->subscribers.emplace(std::move(topic), std::move(callback));
}

void Notifier::start()
{
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

void Notifier::stop()
{
    state_->stopping = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(state_->wake, &one, sizeof one); // full: it is awake anyway
    if (state_->thread.joinable()) state_->thread.join();
}

void Notifier::State::run()
{
    auto pause = kFirstPause;
    bool was_connected = true; // so that the first failure is logged
    while (!stopping) {
        const Connection connection = connect();
        if (connection == nullptr) {
            if (was_connected) log_warning("notifier_disconnected");
            was_connected = false;
            wait(-1, pause);
            pause = std::min<std::chrono::milliseconds>(pause * 2, kMaxPause);
            continue;
        }
        if (!was_connected) log_info("notifier_connected");
        was_connected = true;
        pause = kFirstPause;
        // What was sent while nobody listened is lost: everyone looks again.
        call_all();
        listen(connection.get());
    }
}

/// A connection that listens, or null.
Connection Notifier::State::connect()
{
    const Result<std::string> target = connection_string(url);
    if (!target) return {nullptr, &PQfinish};
    Connection connection(PQconnectdb(target->c_str()), &PQfinish);
    if (PQstatus(connection.get()) != CONNECTION_OK) return {nullptr, &PQfinish};
    PQsetNoticeProcessor(connection.get(), &ignore_notice, nullptr);
    if (!run_command(connection.get(), kListen)) return {nullptr, &PQfinish};
    return connection;
}

/// Until the connection breaks or stop().
void Notifier::State::listen(PGconn* connection)
{
    while (!stopping) {
        if (!dispatch_pending(connection)) return;
        const bool readable = wait(PQsocket(connection), kProbeEvery);
        if (stopping) return;
        if (!readable && !run_command(connection, "SELECT 1")) return;
    }
}

bool Notifier::State::dispatch_pending(PGconn* connection)
{
    if (PQconsumeInput(connection) != 1) return false;
    while (PGnotify* raw = PQnotifies(connection)) {
        const std::unique_ptr<PGnotify, decltype(&PQfreemem)> notification(raw, &PQfreemem);
        dispatch(notification->extra);
    }
    return PQstatus(connection) == CONNECTION_OK;
}

/// `topic payload`; topics have no spaces.
void Notifier::State::dispatch(const std::string& message)
{
    const std::size_t space = message.find(' ');
    const std::string payload = space == std::string::npos ? std::string() : message.substr(space + 1);
    const auto [first, last] = subscribers.equal_range(message.substr(0, space));
    for (auto entry = first; entry != last; ++entry)
        call(entry->second, payload);
}

void Notifier::State::call_all()
{
    for (const auto& [topic, callback] : subscribers)
        call(callback, "");
}

void Notifier::State::call(const Callback& callback, const std::string& payload)
{
    try {
        callback(payload);
    } catch (const std::exception& e) {
        log_error("notifier_callback_failed", {{"error", e.what()}});
    }
}

bool Notifier::State::wait(int socket, std::chrono::milliseconds limit) const
{
    pollfd watched[2] = {{wake, POLLIN, 0}, {socket, POLLIN, 0}}; // poll ignores a negative descriptor
    poll(watched, 2, static_cast<int>(limit.count()));
    return (watched[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

void notify(pqxx::transaction_base& transaction, std::string_view topic, std::string_view payload)
{
    exec(transaction, kNotify, std::string(topic), std::string(payload));
}

} // namespace fathom::server
