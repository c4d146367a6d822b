/// The least that a JSON service over HTTPS does, for submit_rate to compare with: reads a body, parses it as JSON and
/// answers it. One thread, Boost.Beast and OpenSSL and nothing of ours in between.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>

namespace fathom::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<Tcp::socket>;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

Response echo(const Request& request)
{
    const nlohmann::json body = nlohmann::json::parse(request.body(), nullptr, /*allow_exceptions=*/false);
    Response response(body.is_discarded() ? http::status::bad_request : http::status::created, request.version());
    response.set(http::field::content_type, "application/json");
    response.keep_alive(request.keep_alive());
    if (!body.is_discarded()) response.body() = body.dump();
    response.prepare_payload();
    return response;
}

/// Until the client closes, which arrives as an exception and ends the coroutine.
asio::awaitable<void> serve(TlsStream stream)
{
    co_await stream.async_handshake(TlsStream::server, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    for (bool keep_alive = true; keep_alive;) {
        Request request;
        co_await http::async_read(stream, buffer, request, asio::use_awaitable);
        Response response = echo(request);
        keep_alive = response.keep_alive();
        co_await http::async_write(stream, response, asio::use_awaitable);
    }
}

asio::awaitable<void> accept_connections(Tcp::acceptor& acceptor, asio::ssl::context& tls)
{
    for (;;) {
        Tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        socket.set_option(Tcp::no_delay(true));
        TlsStream stream(std::move(socket), tls);
        asio::co_spawn(acceptor.get_executor(), serve(std::move(stream)), [](const std::exception_ptr&) {});
    }
}

/// Prints the port that it listens on; runs until SIGTERM or SIGINT.
void run(const char* certificate_file, const char* key_file)
{
    asio::io_context context(1);
    asio::ssl::context tls(asio::ssl::context::tls_server);
    tls.set_options(asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    tls.use_certificate_chain_file(certificate_file);
    tls.use_private_key_file(key_file, asio::ssl::context::pem);
    Tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
    asio::co_spawn(context, accept_connections(acceptor, tls), asio::detached);
    asio::signal_set signals(context, SIGTERM, SIGINT);
    signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
    std::printf("%u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
    std::fflush(stdout);
    context.run();
}

} // namespace
} // namespace fathom::bench

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fputs("usage: https_echo CERTIFICATE_FILE KEY_FILE\n", stderr);
        return 2;
    }
    try {
        fathom::bench::run(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "https_echo: %s\n", e.what());
        return 1;
    }
    return 0;
}
