#include "support.hpp"

#include "core/net/tls_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <thread>

namespace fathom::net::test {
namespace {

using Tcp = asio::ip::tcp;

const Credential& server_credential()
{
    static const Credential credential = make_server_credential(authority(), {"localhost", "127.0.0.1"}, 1).value();
    return credential;
}

Tcp::socket connected_socket(asio::io_context& io, const Endpoint& endpoint)
{
    Tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), endpoint.port});
    socket.set_option(Tcp::no_delay(true));
    return socket;
}

} // namespace

const Credential& authority()
{
    static const Credential credential = make_authority("Test authority", 1).value();
    return credential;
}

Credential client_credential(const Credential& signer, const std::string& common_name)
{
    const std::string key = make_private_key().value();
    const std::string request = make_signing_request(key, "whoever").value();
    return {sign_client_request(signer, request, common_name, 1).value(), key};
}

TlsContext client_tls(const Credential* credential)
{
    return make_client_context(authority().certificate_pem, credential).value();
}

Handler answer_with(std::function<Response(Request&)> make)
{
    return [make = std::move(make)](Request request) -> asio::awaitable<Response> { co_return make(request); };
}

struct TestServer::State {
    State(Router router, ServerLimits limits, const TlsContext& tls)
        : server(io, tls, std::move(router), limits, metrics), work(asio::make_work_guard(io))
    {
    }

    Metrics metrics;
    asio::io_context io;
    Server server;
    asio::executor_work_guard<asio::io_context::executor_type> work;
    std::vector<std::thread> threads;
};

TestServer::TestServer(Router router, ServerLimits limits, ClientCertificates clients)
    : state_(std::make_unique<State>(
          std::move(router), limits,
          make_server_context(server_credential(), clients, authority().certificate_pem).value()))
{
    state_->server.listen({"127.0.0.1", 0}).value();
    for (int i = 0; i < 2; ++i)
        state_->threads.emplace_back([this] { state_->io.run(); });
}

TestServer::~TestServer()
{
    stop(std::chrono::seconds(0));
    state_->work.reset();
    for (std::thread& thread : state_->threads)
        thread.join();
}

Endpoint TestServer::endpoint() const
{
    return {"localhost", state_->server.port()};
}

HttpClient TestServer::client(ClientOptions options) const
{
    return {endpoint(), client_tls(), options};
}

Metrics& TestServer::metrics()
{
    return state_->metrics;
}

void TestServer::set_tls(TlsContext tls)
{
    state_->server.set_tls(std::move(tls));
}

std::chrono::milliseconds TestServer::stop(std::chrono::seconds grace)
{
    const auto start = std::chrono::steady_clock::now();
    asio::co_spawn(state_->io, state_->server.stop(grace), asio::use_future).get();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

Result<void> try_to_listen(const AddressPort& address)
{
    asio::io_context io;
    Metrics metrics;
    Server server(io, make_server_context(server_credential(), ClientCertificates::kNone, "").value(), Router(), {},
                  metrics);
    return server.listen(address);
}

struct RawClient::State {
    State(const Endpoint& endpoint, const Credential* credential, std::string_view before_tls)
        : tls(client_tls(credential)), stream(connected_socket(io, endpoint), *tls)
    {
        asio::write(stream.next_layer(), asio::buffer(before_tls));
        stream.handshake(asio::ssl::stream_base::client);
    }

    asio::io_context io;
    TlsContext tls;
    asio::ssl::stream<Tcp::socket> stream;
    std::string received;

    bool receive()
    {
        std::array<char, 16384> space{};
        boost::system::error_code ec;
        const std::size_t size = stream.read_some(asio::buffer(space), ec);
        received.append(space.data(), size);
        return !ec;
    }

    std::string take(std::size_t size)
    {
        std::string taken = received.substr(0, size);
        received.erase(0, size);
        return taken;
    }
};

RawClient::RawClient(const Endpoint& endpoint, const Credential* credential, std::string_view before_tls)
    : state_(std::make_unique<State>(endpoint, credential, before_tls))
{
}
RawClient::~RawClient() = default;

void RawClient::receive_little()
{
    state_->stream.lowest_layer().set_option(asio::socket_base::receive_buffer_size(64 << 10));
}

bool RawClient::send(std::string_view data)
{
    boost::system::error_code ec;
    asio::write(state_->stream, asio::buffer(data), ec);
    return !ec;
}

std::string RawClient::read_until(std::string_view end, std::size_t count)
{
    std::size_t from = 0;
    for (;;) {
        const std::size_t at = state_->received.find(end, from);
        if (at != std::string::npos) {
            from = at + end.size();
            if (--count == 0) return state_->take(from);
        } else if (!state_->receive()) {
            return state_->take(state_->received.size());
        }
    }
}

std::string RawClient::read_to_end()
{
    while (state_->receive()) {
    }
    return state_->take(state_->received.size());
}

std::string RawClient::read_answer()
{
    std::string answer = read_until("\r\n\r\n");
    const std::size_t at = answer.find("Content-Length: ");
    if (at == std::string::npos) return answer;
    const std::size_t size = std::stoul(answer.substr(at + 16));
    while (state_->received.size() < size && state_->receive()) {
    }
    return answer + state_->take(size);
}

void RawClient::close()
{
    boost::system::error_code ignored;
    state_->stream.next_layer().close(ignored);
}

void run_on_loop(std::function<asio::awaitable<void>()> work)
{
    asio::io_context io;
    bool ended = false;
    asio::co_spawn(io, work(), [&](const std::exception_ptr& thrown) {
        ended = true;
        if (thrown) std::rethrow_exception(thrown);
    });
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!ended && std::chrono::steady_clock::now() < limit)
        io.run_one_until(limit);
    EXPECT_TRUE(ended) << "the coroutine did not end within 60 s";
    // What it left behind (writers that say goodbye) shall end too.
    io.run_until(limit);
}

std::string exchange_plain_text(const Endpoint& endpoint, std::string_view data)
{
    return IdleSocket(endpoint).exchange(data);
}

struct IdleSocket::State {
    explicit State(const Endpoint& endpoint) : socket(connected_socket(io, endpoint)) {}

    asio::io_context io;
    Tcp::socket socket;
};

IdleSocket::IdleSocket(const Endpoint& endpoint) : state_(std::make_unique<State>(endpoint)) {}
IdleSocket::~IdleSocket() = default;

std::string IdleSocket::exchange(std::string_view data)
{
    std::string received;
    std::array<char, 1024> space{};
    boost::system::error_code ec;
    asio::write(state_->socket, asio::buffer(data), ec);
    while (!ec)
        received.append(space.data(), state_->socket.read_some(asio::buffer(space), ec));
    return received;
}

IdleSocket::IdleSocket(IdleSocket&&) noexcept = default;
IdleSocket& IdleSocket::operator=(IdleSocket&&) noexcept = default;

std::uint16_t unused_port()
{
    asio::io_context io;
    const Tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
    return acceptor.local_endpoint().port();
}

struct SilentListener::State {
    asio::io_context io;
    Tcp::acceptor acceptor{io, {asio::ip::make_address("127.0.0.1"), 0}};
};

SilentListener::SilentListener() : state_(std::make_unique<State>()) {}
SilentListener::~SilentListener() = default;

Endpoint SilentListener::endpoint() const
{
    return {"127.0.0.1", state_->acceptor.local_endpoint().port()};
}

} // namespace fathom::net::test
