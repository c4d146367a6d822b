#include "tests/agent/support/fake_metascheduler.hpp"

#include "core/base/json_reader.hpp"
#include "core/net/server.hpp"
#include "core/net/tls_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <stdexcept>
#include <thread>

namespace fathom::agent::test {

namespace asio = boost::asio;

struct FakeMetascheduler::State {
    net::Credential authority = net::make_authority("test authority", 30).value();
    Metrics metrics;
    asio::io_context context;
    std::unique_ptr<net::Server> server;
    std::thread thread;

    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::vector<link::Message> received;
    std::shared_ptr<net::WebSocket> socket;
    link::Welcome welcome{"0.1.0", "ctr_x", "test-center", 1, {}, {}};
    bool acknowledging = true;

    asio::awaitable<net::Response> enrol(net::Request request);
    asio::awaitable<void> talk(std::shared_ptr<net::WebSocket> connection);
    bool take(const std::shared_ptr<net::WebSocket>& connection, const std::string& text);
};

asio::awaitable<net::Response> FakeMetascheduler::State::enrol(net::Request request)
{
    const Json body = Json::parse(request.body);
    if (body.at("token") != kToken) {
        const Error error(Errc::kForbidden, "the token is not valid", {{"token", "is unknown, used or too old"}});
        co_return net::problem(error, request.request_id);
    }
    const std::string certificate =
        net::sign_client_request(authority, body.at("signing_request_pem").get<std::string>(), "ctr_x", 30).value();
    const Json answer{{"center_id", "ctr_x"},           {"center_name", "test-center"},
                      {"certificate_pem", certificate}, {"ca_pem", authority.certificate_pem},
                      {"agent_host", nullptr},          {"agent_port", server->port()}};
    co_return net::json_response(201, answer.dump());
}

asio::awaitable<void> FakeMetascheduler::State::talk(std::shared_ptr<net::WebSocket> connection)
{
    for (;;) {
        const Result<std::string> text = co_await connection->read();
        if (!text || !take(connection, *text)) co_return;
    }
}

bool FakeMetascheduler::State::take(const std::shared_ptr<net::WebSocket>& connection, const std::string& text)
{
    auto decoded = link::decode(text);
    const auto* message = std::get_if<link::Message>(&decoded);
    if (message == nullptr) return false;
    const std::lock_guard guard(mutex);
    if (std::holds_alternative<link::Hello>(message->body)) {
        socket = connection;
        static_cast<void>(connection->send(link::encode(link::make_message(welcome))));
    }
    if (acknowledging && link::needs_ack(message->body))
        static_cast<void>(connection->send(link::encode(link::make_message(link::Ack{message->id, std::nullopt}))));
    if (!std::holds_alternative<link::Heartbeat>(message->body)) received.push_back(*message);
    changed.notify_all();
    return true;
}

FakeMetascheduler::FakeMetascheduler() : state_(std::make_shared<State>())
{
    State* state = state_.get();
    net::Router router;
    router.add(net::Method::kPost, "/api/v1/agents:enrol",
               [state](net::Request request) { return state->enrol(std::move(request)); });
    router.add_websocket("/link/v1", [state](std::shared_ptr<net::WebSocket> socket, net::Request request) {
        if (!request.peer_certificate) throw std::runtime_error("no client certificate");
        return state->talk(std::move(socket));
    });
    const net::Credential credential = net::make_server_credential(state->authority, {"localhost"}, 30).value();
    net::TlsContext tls =
        net::make_server_context(credential, net::ClientCertificates::kOptional, state->authority.certificate_pem)
            .value();
    state->server =
        std::make_unique<net::Server>(state->context, tls, std::move(router), net::ServerLimits{}, state->metrics);
    state->server->listen({"127.0.0.1", 0}).value();
    state->thread = std::thread([state] {
        const auto work = asio::make_work_guard(state->context);
        state->context.run();
    });
}

FakeMetascheduler::~FakeMetascheduler()
{
    asio::co_spawn(state_->context, state_->server->stop(std::chrono::seconds(1)), asio::use_future).wait();
    state_->context.stop();
    state_->thread.join();
    state_->socket.reset();
    state_->server.reset();
}

std::string FakeMetascheduler::address() const
{
    return "localhost:" + std::to_string(state_->server->port());
}

const std::string& FakeMetascheduler::authority_pem() const
{
    return state_->authority.certificate_pem;
}

MessageId FakeMetascheduler::send(link::Body body)
{
    const link::Message message = link::make_message(std::move(body));
    send_raw(link::encode(message));
    return message.id;
}

void FakeMetascheduler::send_raw(std::string text)
{
    const std::lock_guard guard(state_->mutex);
    if (!state_->socket || !state_->socket->send(std::move(text))) throw std::runtime_error("no agent is connected");
}

void FakeMetascheduler::set_acknowledging(bool acknowledging)
{
    const std::lock_guard guard(state_->mutex);
    state_->acknowledging = acknowledging;
}

void FakeMetascheduler::set_welcome(link::Welcome welcome)
{
    const std::lock_guard guard(state_->mutex);
    state_->welcome = std::move(welcome);
}

void FakeMetascheduler::drop_connection()
{
    const std::lock_guard guard(state_->mutex);
    if (state_->socket) state_->socket->close("test");
}

std::vector<link::Message> FakeMetascheduler::received() const
{
    const std::lock_guard guard(state_->mutex);
    return state_->received;
}

std::size_t FakeMetascheduler::count(const std::function<bool(const link::Message&)>& is_wanted) const
{
    const std::lock_guard guard(state_->mutex);
    return static_cast<std::size_t>(std::count_if(state_->received.begin(), state_->received.end(), is_wanted));
}

link::Message FakeMetascheduler::wait_for(const std::string& what,
                                          const std::function<bool(const link::Message&)>& is_wanted) const
{
    std::unique_lock lock(state_->mutex);
    auto found = state_->received.end();
    const auto is_there = [&] {
        found = std::find_if(state_->received.begin(), state_->received.end(), is_wanted);
        return found != state_->received.end();
    };
    if (!state_->changed.wait_for(lock, std::chrono::seconds(300), is_there))
        throw std::runtime_error("waited 300 s for " + what);
    return *found;
}

} // namespace fathom::agent::test
