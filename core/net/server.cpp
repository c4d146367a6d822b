#include "core/net/server.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/net/connection.hpp"
#include "core/net/network.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>

namespace fathom::net {

namespace {

using Answer = ConnectionPlaces::Answer;

void warn_of_full_network(const std::string& network, std::size_t limit)
{
    log_limited("too_many_connections_of_one_network", {{"network", network}, {"limit", limit}});
}

} // namespace

TlsContext ServerCore::tls() const
{
    const std::scoped_lock lock(mutex_);
    return tls_;
}

void ServerCore::set_tls(TlsContext tls)
{
    const std::scoped_lock lock(mutex_);
    tls_ = std::move(tls);
}

ConnectionPlaces::Answer ServerCore::add(const std::shared_ptr<Connection>& connection)
{
    const std::string network = connection->is_proxied() ? "" : network_of(connection->remote_address());
    std::shared_ptr<Connection> gave_way;
    Answer answer = Answer::kTaken;
    {
        const std::scoped_lock lock(mutex_);
        const auto admission = places_.take(connection.get(), network, std::chrono::steady_clock::now());
        answer = admission.answer;
        if (answer == Answer::kTaken) connections_.emplace(connection.get(), connection);
        if (admission.gave_way != nullptr) gave_way = connections_.at(admission.gave_way);
    }
    if (gave_way) gave_way->kill();
    if (answer == Answer::kServerFull) log_limited("too_many_connections", {{"limit", limits.connections}});
    if (answer == Answer::kNetworkFull) warn_of_full_network(network, limits.connections_of_one_network);
    return answer;
}

bool ServerCore::set_network(const Connection* connection, const std::string& remote_address)
{
    const std::string network = network_of(remote_address);
    bool has_place = false;
    {
        const std::scoped_lock lock(mutex_);
        has_place = places_.set_network(connection, network, std::chrono::steady_clock::now());
    }
    if (!has_place) warn_of_full_network(network, limits.connections_of_one_network);
    return has_place;
}

bool ServerCore::settle(const Connection* connection, bool has_certificate)
{
    const std::scoped_lock lock(mutex_);
    if (!has_certificate) return places_.keep_stranger(connection);
    places_.know(connection);
    return true;
}

void ServerCore::remove(const std::shared_ptr<Connection>& connection)
{
    bool last = false;
    {
        const std::scoped_lock lock(mutex_);
        places_.give_back(connection.get());
        connections_.erase(connection.get());
        last = connections_.empty();
    }
    if (last && stopping.load() && on_empty) on_empty();
}

std::vector<std::shared_ptr<Connection>> ServerCore::connections() const
{
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_)
        all.push_back(connection);
    return all;
}

bool ServerCore::is_empty() const
{
    const std::scoped_lock lock(mutex_);
    return connections_.empty();
}

/// Everything here runs on `strand`, but listen(), which comes before.
struct Server::State : std::enable_shared_from_this<Server::State> {
    State(asio::io_context& io, TlsContext tls, Router router, ServerLimits limits, Metrics& metrics)
        : context(io), strand(asio::make_strand(io)), acceptor(strand), pause(strand), sweep(strand), drained(strand),
          core(std::make_shared<ServerCore>(std::move(tls), std::move(router), std::move(limits), metrics))
    {
    }

    asio::io_context& context;
    const Strand strand;
    Tcp::acceptor acceptor;
    asio::steady_timer pause;   ///< between failed accepts
    asio::steady_timer sweep;   ///< between looks at the deadlines
    asio::steady_timer drained; ///< cancelled when the last connection has gone
    std::shared_ptr<ServerCore> core;
    std::uint16_t port = 0;
    bool finished = false;

    Result<void> take(ListeningSocket socket);
    void start();
    asio::awaitable<void> accept_connections(std::shared_ptr<State> self);
    asio::awaitable<void> sweep_deadlines(std::shared_ptr<State> self);
    asio::awaitable<void> stop(std::shared_ptr<State> self, std::chrono::seconds grace);
    void shut_down_now();
};

Result<void> Server::State::take(ListeningSocket socket)
{
    port = socket.port();
    boost::system::error_code ec;
    acceptor.assign(socket.is_v6() ? Tcp::v6() : Tcp::v4(), socket.release(), ec);
    if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (!ec) return {};
    boost::system::error_code ignored;
    acceptor.close(ignored);
    return Error{Errc::kUnavailable, "cannot listen on port " + std::to_string(port) + ": " + ec.message()};
}

void Server::State::start()
{
    // The handler may outlive the server: it must not keep the state alive in a circle.
    core->on_empty = [weak = weak_from_this()] {
        if (const auto state = weak.lock()) asio::post(state->strand, [state] { state->drained.cancel(); });
    };
    auto done = [](const std::exception_ptr& thrown) {
        if (thrown) log_error("server_failed", {});
    };
    asio::co_spawn(strand, accept_connections(shared_from_this()), done);
    asio::co_spawn(strand, sweep_deadlines(shared_from_this()), done);
}

asio::awaitable<void> Server::State::accept_connections(std::shared_ptr<State>)
{
    constexpr std::chrono::milliseconds kPause{100};
    constexpr std::chrono::milliseconds kHandshakePause{10};
    while (acceptor.is_open()) {
        Strand session = asio::make_strand(context);
        auto [ec, socket] = co_await acceptor.async_accept(asio::any_io_executor(session), kAsTuple);
        if (!acceptor.is_open()) co_return;
        if (ec) {
            // Out of file descriptors, say: the waiting client stays in the backlog meanwhile.
            log_limited("accept_failed", {{"error", ec.message()}});
            pause.expires_after(kPause);
            co_await pause.async_wait(kAsTuple);
            continue;
        }
        boost::system::error_code ignored;
        socket.set_option(Tcp::no_delay(true), ignored);
        socket.set_option(asio::socket_base::keep_alive(true), ignored);
        const auto connection = std::make_shared<Connection>(core, std::move(session), std::move(socket));
        Answer answer = core->add(connection);
        while (answer == Answer::kManyHandshakes) {
            // It and those behind it in the backlog wait for their turn, which costs nobody anything.
            log_limited("connections_wait_for_handshakes", {{"limit", core->limits.handshakes}});
            pause.expires_after(kHandshakePause);
            co_await pause.async_wait(kAsTuple);
            if (!acceptor.is_open()) co_return;
            answer = core->add(connection);
        }
        if (answer == Answer::kTaken) connection->start();
    }
}

asio::awaitable<void> Server::State::sweep_deadlines(std::shared_ptr<State>)
{
    constexpr std::chrono::milliseconds kInterval{200};
    while (!finished) {
        sweep.expires_after(kInterval);
        co_await sweep.async_wait(kAsTuple);
        const auto now = std::chrono::steady_clock::now();
        for (const auto& connection : core->connections())
            connection->check_deadline(now);
    }
}

asio::awaitable<void> Server::State::stop(std::shared_ptr<State>, std::chrono::seconds grace)
{
    boost::system::error_code ignored;
    core->stopping = true;
    acceptor.close(ignored);
    pause.cancel();
    for (const auto& connection : core->connections())
        connection->begin_stop();

    const auto limit = std::chrono::steady_clock::now() + grace;
    while (!core->is_empty() && std::chrono::steady_clock::now() < limit) {
        drained.expires_at(limit);
        co_await drained.async_wait(kAsTuple);
    }
    for (const auto& connection : core->connections())
        connection->kill();
    while (!core->is_empty()) {
        drained.expires_at(asio::steady_timer::time_point::max());
        co_await drained.async_wait(kAsTuple);
    }
    finished = true;
    sweep.cancel();
}

void Server::State::shut_down_now()
{
    boost::system::error_code ignored;
    core->stopping = true;
    acceptor.close(ignored);
    pause.cancel();
    for (const auto& connection : core->connections())
        connection->kill();
    finished = true;
    sweep.cancel();
}

Server::Server(asio::io_context& context, TlsContext tls, Router router, ServerLimits limits, Metrics& metrics)
    : state_(std::make_shared<State>(context, std::move(tls), std::move(router), std::move(limits), metrics))
{
}

Server::~Server()
{
    asio::post(state_->strand, [state = state_] { state->shut_down_now(); });
}

Result<void> Server::listen(const AddressPort& address)
{
    Result<ListeningSocket> socket = ListeningSocket::bind(address);
    if (!socket) return socket.error();
    return listen(std::move(*socket));
}

Result<void> Server::listen(ListeningSocket socket)
{
    Result<void> listens = state_->take(std::move(socket));
    if (listens) state_->start();
    return listens;
}

void Server::set_tls(TlsContext tls)
{
    state_->core->set_tls(std::move(tls));
}

std::uint16_t Server::port() const
{
    return state_->port;
}

asio::awaitable<void> Server::stop(std::chrono::seconds grace)
{
    const std::shared_ptr<State> state = state_;
    asio::awaitable<void> work = state->stop(state, grace);
    co_await asio::co_spawn(state->strand, std::move(work), asio::use_awaitable);
}

} // namespace fathom::net
