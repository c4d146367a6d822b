#include "server/centers/sessions/agent_hub.hpp"

#include "core/base/log_limit.hpp"
#include "server/api/token_limits.hpp"
#include "server/centers/sessions/agent_session.hpp"
#include "server/centers/sessions/session_keeper.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <mutex>
#include <tuple>

namespace fathom::server {
namespace {

/// Owns the session for as long as its orders are sent.
asio::awaitable<void> send_orders(std::shared_ptr<AgentSession> session)
{
    co_await session->send_orders();
}

/// A session ends when its reader does, or what carries out its reports, also by an exception.
class EndGuard {
  public:
    explicit EndGuard(std::shared_ptr<AgentSession> session) : session_(std::move(session)) {}
    ~EndGuard() { session_->end(""); }
    EndGuard(const EndGuard&) = delete;
    EndGuard& operator=(const EndGuard&) = delete;

  private:
    std::shared_ptr<AgentSession> session_;
};

asio::awaitable<void> tell_of_catalog(std::shared_ptr<AgentSession> session)
{
    co_await session->tell_of_catalog();
}

asio::awaitable<void> take_reports(std::shared_ptr<AgentSession> session)
{
    const EndGuard guard(session);
    co_await session->take_reports();
}

asio::awaitable<void> take_output(std::shared_ptr<AgentSession> session)
{
    const EndGuard guard(session);
    co_await session->take_output();
}

asio::awaitable<void> take_queued(std::shared_ptr<AgentSession> session)
{
    const EndGuard guard(session);
    co_await session->take_queued();
}

/// Of all sessions together; the first message of each needs no room.
constexpr std::size_t kOutputRoom_bytes = std::size_t{256} << 20U;

} // namespace

struct AgentHub::State {
    State(AgentSessionParts session_parts, AgentSessionOptions session_options, SessionKeeperOptions keeper_options,
          const AgentHubOptions& hub)
        : parts(session_parts), options(std::move(session_options)), keeping(std::move(keeper_options)),
          connections(hub.connections_in_a_row, 1 / std::chrono::duration<double>(hub.connection_pause).count()),
          tasks("agent_sessions")
    {
    }

    const AgentSessionParts parts;
    const AgentSessionOptions options;
    const SessionKeeperOptions keeping;
    TokenRate connections; ///< by center and certificate
    net::TaskGroup tasks;
    std::mutex mutex;
    std::map<CenterId, std::weak_ptr<AgentSession>> sessions; ///< the newest of each center
    bool closed = false;

    /// Makes the session the center's one. False when a newer one was quicker, or the hub is closed.
    bool enlist(const CenterId& center, const std::shared_ptr<AgentSession>& session)
    {
        const std::scoped_lock lock(mutex);
        if (closed) return false;
        auto& slot = sessions[center];
        if (const auto other = slot.lock()) {
            if (other->epoch() > session->epoch()) return false;
            other->end("superseded by a newer connection");
        }
        slot = session;
        return true;
    }

    void delist(const CenterId& center, const std::shared_ptr<AgentSession>& session)
    {
        const std::scoped_lock lock(mutex);
        const auto slot = sessions.find(center);
        if (slot != sessions.end() && slot->second.lock() == session) sessions.erase(slot);
    }

    /// Calls `action` for the session of a center, or for all when the payload is empty.
    template <class Action>
    void for_sessions(const std::string& payload, Action action)
    {
        const std::scoped_lock lock(mutex);
        auto from = sessions.begin();
        auto to = sessions.end();
        if (!payload.empty()) std::tie(from, to) = sessions.equal_range(CenterId{payload});
        for (; from != to; ++from) {
            if (const auto session = from->second.lock()) action(*session);
        }
    }

    std::vector<std::shared_ptr<AgentSession>> open_sessions()
    {
        const std::scoped_lock lock(mutex);
        std::vector<std::shared_ptr<AgentSession>> open;
        open.reserve(sessions.size());
        for (const auto& [center, slot] : sessions) {
            if (auto session = slot.lock()) open.push_back(std::move(session));
        }
        return open;
    }

    static asio::awaitable<void> keep(std::shared_ptr<State> self);

    static asio::awaitable<void> serve(std::shared_ptr<State> self, std::shared_ptr<net::WebSocket> socket,
                                       net::Request request);
};

asio::awaitable<void> AgentHub::State::serve(std::shared_ptr<State> self, std::shared_ptr<net::WebSocket> socket,
                                             net::Request request)
{
    if (!request.peer_certificate) {
        log_limited("agent_refused", {{"remote_address", request.remote_address}, {"error", "no client certificate"}});
        socket->close("a client certificate of the network is required", net::CloseKind::kRefused);
        co_return;
    }
    // By its certificate: who holds an old one must not keep the center's own agent away.
    const net::PeerCertificate& certificate = *request.peer_certificate;
    const std::chrono::seconds wait = self->connections.try_take(certificate.common_name + "/" + certificate.serial_hex,
                                                                 std::chrono::steady_clock::now());
    if (wait.count() > 0) {
        log_limited("agent_slowed_down", {{"center_id", certificate.common_name},
                                          {"remote_address", request.remote_address},
                                          {"again_in_s", wait.count()}});
        socket->close("this center connects too often: it may again in " + std::to_string(wait.count()) + " s");
        co_return;
    }
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto session = std::make_shared<AgentSession>(std::move(socket), std::move(*request.peer_certificate), self->parts,
                                                  self->options, executor);
    request = net::Request(); // is of no more use for as long as the agent stays
    const EndGuard guard(session);
    const std::optional<SessionGrant> grant = co_await session->greet();
    if (!grant) co_return;
    if (!self->enlist(grant->center_id, session)) {
        session->end("superseded by a newer connection");
        co_return;
    }
    self->tasks.spawn(executor, "send_orders", send_orders(session));
    self->tasks.spawn(executor, "take_reports", take_reports(session));
    self->tasks.spawn(executor, "take_output", take_output(session));
    self->tasks.spawn(executor, "take_queued", take_queued(session));
    self->tasks.spawn(executor, "tell_of_catalog", tell_of_catalog(session));
    co_await session->serve();
    self->delist(grant->center_id, session);
}

asio::awaitable<void> AgentHub::State::keep(std::shared_ptr<State> self)
{
    SessionKeeper keeper(self->parts, self->keeping, [state = self.get()] { return state->open_sessions(); });
    co_await keeper.run();
}

AgentHubOptions options_within(const HeartbeatLimits& limits)
{
    const std::chrono::milliseconds third = std::chrono::milliseconds(limits.suspect_after) / 3;
    AgentHubOptions options;
    options.heartbeat = std::min(options.heartbeat, std::chrono::floor<std::chrono::seconds>(third));
    options.order_tick = std::min(options.order_tick, third);
    options.touch_period = std::min(options.touch_period, third / 2);
    options.longest_away = std::chrono::milliseconds(limits.lost_after) / 2;
    return options;
}

AgentHub::AgentHub(const AgentHubParts& parts, AgentHubOptions options)
{
    AgentSessionOptions session_options;
    session_options.replica = options.replica;
    session_options.heartbeat = options.heartbeat;
    session_options.hello_time = options.hello_time;
    session_options.order_tick = options.order_tick;
    session_options.catalog_pause = options.catalog_pause;
    session_options.notice_pause = options.notice_pause;
    SessionKeeperOptions keeper_options{options.replica, options.order_tick, options.touch_period,
                                        options.longest_away};
    const AgentSessionParts session_parts{&parts.database,
                                          &parts.gateway,
                                          &parts.enrolment,
                                          parts.sub_units,
                                          parts.balance,
                                          parts.library,
                                          std::make_shared<OutputRoom>(kOutputRoom_bytes)};
    state_ = std::make_shared<State>(session_parts, std::move(session_options), std::move(keeper_options), options);
}

AgentHub::~AgentHub()
{
    close();
}

void AgentHub::add_route(net::Router& router)
{
    router.add_websocket("/link/v1", [state = state_](std::shared_ptr<net::WebSocket> socket, net::Request request) {
        return State::serve(state, std::move(socket), std::move(request));
    });
}

void AgentHub::subscribe(Notifier& notifier)
{
    notifier.subscribe("dispatch", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.wake(); });
    });
    notifier.subscribe("question", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.ask(); });
    });
    notifier.subscribe("kept_file", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.ask_for_pieces(); });
    });
    notifier.subscribe("sub_unit", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.retarget(); });
    });
    notifier.subscribe("center_resources", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.reconfigure(); });
    });
    notifier.subscribe("center", [state = state_](const std::string& payload) {
        state->for_sessions(payload, [](AgentSession& session) { session.recheck(); });
    });
}

void AgentHub::library_changed()
{
    state_->for_sessions("", [](AgentSession& session) { session.rematch(); });
}

void AgentHub::authorities_changed()
{
    state_->for_sessions("", [](AgentSession& session) { session.retrust(); });
}

void AgentHub::start(asio::any_io_executor executor)
{
    state_->tasks.keep_running(std::move(executor), "keep_sessions", [state = state_] { return State::keep(state); });
}

void AgentHub::close()
{
    {
        const std::scoped_lock lock(state_->mutex);
        state_->closed = true;
        for (const auto& [center, slot] : state_->sessions) {
            if (const auto session = slot.lock()) session->end("the server is stopping");
        }
    }
    state_->tasks.close();
}

bool AgentHub::wait(std::chrono::milliseconds limit)
{
    return state_->tasks.wait(limit);
}

} // namespace fathom::server
