#include "support.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <thread>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

Router echo_router()
{
    Router router;
    router.add(Method::kPost, "/echo",
               answer_with([](Request& request) { return json_response(200, std::move(request.body)); }),
               {.most_bytes = 8UL << 20U});
    router.add(Method::kGet, "/large",
               answer_with([](Request&) { return json_response(200, std::string(64 << 20, 'x')); }));
    return router;
}

/// Runs `wait` and says how long it took.
template <class Wait>
std::chrono::milliseconds time_of(Wait wait)
{
    const auto start = std::chrono::steady_clock::now();
    wait();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

constexpr const char* kPing = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nping";

TEST(Limits, AnswersAnOversizedHeaderWith431)
{
    const TestServer server(echo_router());
    const std::string long_value(20000, 'x');
    std::string many;
    for (int i = 0; i < 2000; ++i)
        many += "X-Field-" + std::to_string(i) + ": value\r\n";
    for (const std::string& request : {"POST /echo HTTP/1.1\r\nHost: localhost\r\nX-Long: " + long_value + "\r\n\r\n",
                                       "POST /echo HTTP/1.1\r\nHost: localhost\r\n" + many + "\r\n",
                                       "GET /" + long_value + " HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
        RawClient client(server.endpoint());
        client.send(request);
        EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 431 ")) << request.substr(0, 60);
    }
}

TEST(Limits, CountsHeaderFieldsThatDripInOneByOne)
{
    ServerLimits limits;
    limits.header_bytes = 1024;
    const TestServer server(echo_router(), limits);
    RawClient client(server.endpoint());

    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < 60; ++i)
        client.send("X-Field-" + std::to_string(i) + ": a value of some length\r\n");

    EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 431 "));
}

TEST(Limits, Answers413BeforeAnAnnouncedBodyArrives)
{
    const TestServer server(echo_router());
    for (const char* expect : {"", "Expect: 100-continue\r\n"}) {
        RawClient client(server.endpoint());
        client.send(std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\n") + expect +
                    "Content-Length: 5000000\r\n\r\n");
        EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 413 "));
    }
}

TEST(Limits, Answers413AlsoToClientsThatKeepSending)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    const Result<ClientResponse> response = client.request(Method::kPost, "/echo", {}, std::string(8 << 20, 'x'));

    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_EQ(response->status, 413);
    EXPECT_EQ(client.request(Method::kPost, "/echo", {}, "again").value().body, "again");
}

TEST(Limits, Answers413ToAChunkedBodyThatGrowsTooLarge)
{
    ServerLimits limits;
    limits.body_bytes = 1000;
    const TestServer server(echo_router(), limits);
    RawClient client(server.endpoint());

    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; ++i)
        client.send("64\r\n" + std::string(100, 'x') + "\r\n");

    EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 413 "));
}

TEST(Limits, AnswersMalformedRequestsWith400)
{
    const TestServer server(echo_router());
    for (const char* request : {
             "nonsense\r\n\r\n",
             "GET / HTTP/1.1\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nAuthorization: y\r\n\r\n",
             "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
             "GET relative HTTP/1.1\r\nHost: a\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
             "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
         }) {
        RawClient client(server.endpoint());
        client.send(request);
        client.send("");
        const std::string answer = client.read_answer();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << request;
        EXPECT_THAT(answer, HasSubstr("application/problem+json"));
    }
}

TEST(Limits, AnswersOtherVersionsAndMethodsAsSuch)
{
    const TestServer server(echo_router());
    RawClient http2(server.endpoint());
    http2.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    EXPECT_THAT(http2.read_to_end(), StartsWith("HTTP/1.1 505 "));

    RawClient brew(server.endpoint());
    brew.send("BREW / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(brew.read_answer(), StartsWith("HTTP/1.1 501 "));
}

TEST(Limits, JustClosesOnPlainText)
{
    const TestServer server(echo_router());

    EXPECT_THAT(exchange_plain_text(server.endpoint(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
                testing::Not(HasSubstr("HTTP")));
}

TEST(Limits, DropsClientsThatNeverFinishTheHandshake)
{
    ServerLimits limits;
    limits.handshake_time = 1s;
    const TestServer server(echo_router(), limits);

    const auto taken = time_of([&] { exchange_plain_text(server.endpoint(), "\x16\x03\x01"); });

    EXPECT_GE(taken, 900ms);
    EXPECT_LE(taken, 30s);
}

TEST(Limits, DropsSlowLorisRequestsHoweverOftenTheySendAByte)
{
    ServerLimits limits;
    limits.request_time = 1s;
    const TestServer server(echo_router(), limits);
    RawClient client(server.endpoint());

    const auto taken = time_of([&] {
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nX: ");
        const auto limit = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < limit && client.send("x"))
            std::this_thread::sleep_for(20ms);
    });

    EXPECT_GE(taken, 900ms);
    EXPECT_LE(taken, 30s);
}

TEST(Limits, DropsSlowBodiesToo)
{
    ServerLimits limits;
    limits.request_time = 1s;
    const TestServer server(echo_router(), limits);
    RawClient client(server.endpoint());

    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");

    EXPECT_EQ(client.read_to_end(), "");
}

/// Whether each of its pings was answered: 3.6 s in all, of which 0.6 s are idle at a time.
bool stays_busy(RawClient& client)
{
    for (int i = 0; i < 6; ++i) {
        client.send(kPing);
        if (!client.read_answer().ends_with("ping")) return false;
        std::this_thread::sleep_for(600ms);
    }
    return true;
}

TEST(Limits, ClosesIdleConnectionsButNotBusyOnes)
{
    ServerLimits limits;
    limits.idle_time = 3s;
    const TestServer server(echo_router(), limits);

    // A busy one is closed only when the process has stood still meanwhile.
    std::optional<RawClient> client;
    bool is_kept = false;
    for (int i = 0; i < 4 && !is_kept; ++i) {
        client.emplace(server.endpoint());
        is_kept = stays_busy(*client);
    }
    ASSERT_TRUE(is_kept);
    const auto taken = time_of([&] { EXPECT_EQ(client->read_to_end(), ""); });

    EXPECT_LE(taken, 30s);
}

TEST(Limits, DropsReadersThatDoNotRead)
{
    ServerLimits limits;
    limits.write_time = 1s;
    const TestServer server(echo_router(), limits);
    RawClient client(server.endpoint());
    client.receive_little();

    client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < limit && client.send(" ")) // until the connection is closed
        std::this_thread::sleep_for(20ms);
    const std::string received = client.read_to_end();

    EXPECT_LT(received.size(), std::size_t{64} << 20U);
}

TEST(Limits, ClosesConnectionsBeyondTheLimitAtOnce)
{
    ServerLimits limits;
    limits.connections = 2;
    const TestServer server(echo_router(), limits);
    RawClient first(server.endpoint());
    RawClient second(server.endpoint());

    HttpClient third = server.client();
    const Result<ClientResponse> refused = third.request(Method::kPost, "/echo", {}, "x");
    EXPECT_FALSE(refused);

    first.send(kPing);
    EXPECT_THAT(first.read_answer(), testing::EndsWith("ping"));
}

TEST(Limits, AFloodOfConnectionsIsNoFloodOfLogLines)
{
    ServerLimits limits;
    limits.connections = 1;
    const TestServer server(echo_router(), limits);
    RawClient only(server.endpoint());

    testing::internal::CaptureStderr();
    const auto taken = time_of([&] {
        for (int i = 0; i < 1000; ++i)
            IdleSocket{server.endpoint()};
        exchange_plain_text(server.endpoint(), "x"); // accepted after all of them
    });
    const std::string log = testing::internal::GetCapturedStderr();

    std::size_t lines = 0;
    for (std::size_t at = log.find("too_many_connections"); at != std::string::npos; ++lines)
        at = log.find("too_many_connections", at + 1);
    EXPECT_LE(lines, 2U + static_cast<std::size_t>(taken / 10s)) << "one each ten seconds";
}

} // namespace
} // namespace fathom::net::test
