#include "core/base/log.hpp"
#include "core/base/utf8.hpp"
#include "core/net/server.hpp"
#include "core/net/tls_context.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <future>
#include <span>
#include <thread>

namespace {

namespace asio = boost::asio;
namespace net = fathom::net;
using Tcp = asio::ip::tcp;

constexpr std::size_t kMessageBytes = 1024;

/// Messages come back until one is refused.
asio::awaitable<void> echo(std::shared_ptr<net::WebSocket> socket, net::Request)
{
    for (;;) {
        fathom::Result<std::string> message = co_await socket->read();
        if (!message) {
            FATHOM_ASSERT(!socket->is_open());
            co_return;
        }
        FATHOM_ASSERT(message->size() <= kMessageBytes && fathom::is_utf8(*message));
        if (!socket->send(std::move(*message))) co_return;
    }
}

/// One server for all inputs, on a thread of its own.
class EchoServer {
  public:
    EchoServer()
        : server_(io_, net::make_server_context(credential_, net::ClientCertificates::kNone, "").value(), router(),
                  limits(), metrics_)
    {
        server_.listen(fathom::AddressPort{"127.0.0.1", 0}).value();
        thread_ = std::thread([this] { io_.run(); });
    }
    ~EchoServer()
    {
        io_.stop();
        thread_.join();
    }
    EchoServer(const EchoServer&) = delete;
    EchoServer& operator=(const EchoServer&) = delete;

    std::uint16_t port() const { return server_.port(); }
    const std::string& authority() const { return authority_.certificate_pem; }

  private:
    static net::ServerLimits limits()
    {
        net::ServerLimits limits;
        limits.websocket_message_bytes = kMessageBytes;
        return limits;
    }
    static net::Router router()
    {
        net::Router router;
        router.add_websocket("/link", echo);
        return router;
    }

    fathom::Metrics metrics_;
    asio::io_context io_;
    net::Credential authority_ = net::make_authority("fuzz", 1).value();
    net::Credential credential_ = net::make_server_credential(authority_, {"localhost"}, 1).value();
    net::Server server_;
    std::thread thread_;
};

constexpr std::string_view kUpgrade = "GET /link HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                                      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

/// Asynchronous, for libFuzzer's own alarm interrupts calls that wait.
asio::awaitable<std::string> answer_to(std::uint16_t port, net::TlsContext tls, std::span<const std::uint8_t> frames)
{
    asio::ssl::stream<Tcp::socket> stream(co_await asio::this_coro::executor, *tls);
    co_await stream.next_layer().async_connect({asio::ip::make_address("127.0.0.1"), port}, asio::use_awaitable);
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    boost::system::error_code ec; // the server may end first
    const auto may_fail = [&ec] { return asio::redirect_error(asio::use_awaitable, ec); };
    co_await asio::async_write(stream, asio::buffer(kUpgrade), may_fail());
    co_await asio::async_write(stream, asio::buffer(frames.data(), frames.size()), may_fail());
    stream.next_layer().shutdown(Tcp::socket::shutdown_send, ec);
    std::string answer;
    std::array<char, 4096> block{};
    ec = {};
    while (!ec)
        answer.append(block.data(), co_await stream.async_read_some(asio::buffer(block), may_fail()));
    co_return answer;
}

} // namespace

/// Whatever follows the upgrade of a connection, the reader gets texts within their limit or an end, and the connection
/// ends when its client says no more.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static EchoServer server;
    static const net::TlsContext tls = net::make_client_context(server.authority(), nullptr).value();
    asio::io_context io;
    std::future<std::string> answered =
        asio::co_spawn(io, answer_to(server.port(), tls, {data, size}), asio::use_future);
    io.run();
    const std::string answer = answered.get();
    FATHOM_ASSERT(answer.empty() || answer.starts_with("HTTP/1.1 101 "));
    return 0;
}
