#include "core/net/stream.hpp"
#include "core/net/tls_context.hpp"
#include "support.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <array>
#include <sys/socket.h>

namespace fathom::net::test {
namespace {

/// Two ends of one connection.
struct Pair {
    explicit Pair(const asio::any_io_executor& executor)
    {
        Tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), 0});
        Tcp::socket client_socket(executor);
        client_socket.connect(acceptor.local_endpoint());
        server = std::make_unique<TlsStream>(acceptor.accept(), *server_tls);
        client = std::make_unique<TlsStream>(std::move(client_socket), *client_context);
    }

    asio::awaitable<void> shake_hands() const
    {
        const asio::any_io_executor executor = co_await asio::this_coro::executor;
        bool is_connected = false;
        auto connect = [&is_connected](TlsStream* stream) -> asio::awaitable<void> {
            const auto [ec] = co_await stream->async_handshake(TlsSide::kClient, kAsTuple);
            EXPECT_FALSE(ec) << ec.message();
            is_connected = true;
        };
        asio::co_spawn(executor, connect(client.get()), asio::detached);
        const auto [ec] = co_await server->async_handshake(TlsSide::kServer, kAsTuple);
        EXPECT_FALSE(ec) << ec.message();
        while (!is_connected)
            co_await asio::post(executor, asio::use_awaitable);
    }

    TlsContext server_tls = make_server_context(make_server_credential(authority(), {"localhost"}, 1).value(),
                                                ClientCertificates::kNone, {})
                                .value();
    TlsContext client_context = client_tls();
    std::unique_ptr<TlsStream> server;
    std::unique_ptr<TlsStream> client;
};

void with_pair(std::function<asio::awaitable<void>(Pair&)> work)
{
    run_on_loop([&]() -> asio::awaitable<void> {
        Pair pair(co_await asio::this_coro::executor);
        co_await pair.shake_hands();
        co_await work(pair);
    });
}

/// Other bytes at each place, so that a piece that is lost or comes twice is seen.
std::string long_text(std::size_t size, unsigned seed)
{
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>((i * 2654435761U + seed) >> 13U);
    return text;
}

TEST(TlsStreamTest, CarriesMuchBothWaysAtOnce)
{
    constexpr std::size_t kBytes = std::size_t{8} << 20U; // more than sockets hold
    const std::string to_server = long_text(kBytes, 1);
    const std::string to_client = long_text(kBytes, 2);
    with_pair([&](Pair& pair) -> asio::awaitable<void> {
        const asio::any_io_executor executor = co_await asio::this_coro::executor;
        auto send = [](TlsStream* stream, const std::string* text) -> asio::awaitable<void> {
            const auto [ec, size] = co_await asio::async_write(*stream, asio::buffer(*text), kAsTuple);
            EXPECT_EQ(size, text->size()) << ec.message();
        };
        asio::co_spawn(executor, send(pair.client.get(), &to_server), asio::detached);
        asio::co_spawn(executor, send(pair.server.get(), &to_client), asio::detached);
        std::string at_server(kBytes, ' ');
        std::string at_client(kBytes, ' ');

        const auto [ec, size] = co_await asio::async_read(*pair.server, asio::buffer(at_server), kAsTuple);
        const auto [ec2, size2] = co_await asio::async_read(*pair.client, asio::buffer(at_client), kAsTuple);

        EXPECT_FALSE(ec || ec2) << ec.message() << ", " << ec2.message();
        EXPECT_TRUE(at_server == to_server);
        EXPECT_TRUE(at_client == to_client);
    });
}

TEST(TlsStreamTest, SmallPiecesGoIntoOneRecord)
{
    with_pair([](Pair& pair) -> asio::awaitable<void> {
        const std::array<asio::const_buffer, 3> pieces{asio::buffer("he", 2), asio::const_buffer{},
                                                       asio::buffer("llo", 3)};
        const auto [ec, size] = co_await pair.client->async_write_some(pieces, kAsTuple);
        std::array<char, 64> room{};
        const auto [ec2, size2] = co_await pair.server->async_read_some(asio::buffer(room), kAsTuple);

        EXPECT_EQ(size, 5U) << ec.message();
        EXPECT_EQ(std::string(room.data(), size2), "hello") << ec2.message();
    });
}

TEST(TlsStreamTest, NothingIsReadAndWrittenAtOnce)
{
    with_pair([](Pair& pair) -> asio::awaitable<void> {
        const auto [ec, size] = co_await pair.client->async_write_some(asio::const_buffer{}, kAsTuple);
        const auto [ec2, size2] = co_await pair.client->async_read_some(asio::mutable_buffer{}, kAsTuple);
        EXPECT_FALSE(ec || ec2);
        EXPECT_EQ(size + size2, 0U);
    });
}

TEST(TlsStreamTest, TellsAGoodbyeFromAConnectionThatIsCut)
{
    for (const bool says_goodbye : {true, false}) {
        with_pair([=](Pair& pair) -> asio::awaitable<void> {
            if (says_goodbye) {
                SSL_set_shutdown(pair.client->native_handle(), SSL_RECEIVED_SHUTDOWN);
                co_await pair.client->async_shutdown(kAsTuple);
            }
            pair.client->next_layer().shutdown(Tcp::socket::shutdown_send);
            std::array<char, 64> room{};

            const auto [ec, size] = co_await pair.server->async_read_some(asio::buffer(room), kAsTuple);

            const boost::system::error_code expected =
                says_goodbye ? boost::system::error_code(asio::error::eof)
                             : boost::system::error_code(asio::ssl::error::stream_truncated);
            EXPECT_EQ(ec, expected) << ec.message();
        });
    }
}

TEST(TlsStreamTest, WritesNothingToTheNextOwnerOfItsDescriptor)
{
    with_pair([](Pair& pair) -> asio::awaitable<void> {
        const int descriptor = pair.client->next_layer().native_handle();
        std::array<int, 2> other{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, other.data()), 0);
        pair.client->next_layer().close();
        EXPECT_EQ(::dup2(other[0], descriptor), descriptor);

        const auto [ec, size] = co_await pair.client->async_write_some(asio::buffer("secret", 6), kAsTuple);
        std::array<char, 64> room{};

        EXPECT_TRUE(ec);
        EXPECT_EQ(size, 0U);
        EXPECT_EQ(::recv(other[1], room.data(), room.size(), 0), -1);
        for (const int one : {descriptor, other[0], other[1]})
            ::close(one);
    });
}

TEST(TlsStreamTest, APendingReadEndsWithItsSocket)
{
    with_pair([](Pair& pair) -> asio::awaitable<void> {
        asio::steady_timer soon(co_await asio::this_coro::executor, std::chrono::milliseconds(20));
        soon.async_wait([&](const boost::system::error_code&) { pair.client->next_layer().close(); });
        std::array<char, 64> room{};
        const auto [ec, size] = co_await pair.client->async_read_some(asio::buffer(room), kAsTuple);
        EXPECT_EQ(ec, asio::error::operation_aborted) << ec.message();
    });
}

} // namespace
} // namespace fathom::net::test
