#include "support.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Stream = std::function<asio::awaitable<void>(std::shared_ptr<BodyWriter>)>;

Router router_of(Stream stream)
{
    Router router;
    router.add(Method::kGet, "/stream", answer_with([stream = std::move(stream)](Request&) {
                   Response response;
                   response.headers["Content-Type"] = "text/event-stream";
                   response.stream = stream;
                   return response;
               }));
    router.add(Method::kGet, "/plain", answer_with([](Request&) { return json_response(200, "plain"); }));
    return router;
}

asio::awaitable<void> count_to_three(std::shared_ptr<BodyWriter> writer)
{
    for (const char* chunk : {"one ", "two ", "", "three"})
        (co_await writer->write(chunk)).value();
}

asio::awaitable<void> break_off(std::shared_ptr<BodyWriter> writer)
{
    (co_await writer->write("half")).value();
    throw std::runtime_error("the source failed");
}

/// Keeps a promise with how sleeping ended.
Stream sleep_into(std::shared_ptr<std::promise<Result<void>>> ended)
{
    return [ended](std::shared_ptr<BodyWriter> writer) -> asio::awaitable<void> {
        (co_await writer->write("begun")).value();
        const Result<void> slept = co_await writer->sleep(600s);
        ended->set_value(slept);
    };
}

constexpr const char* kGetStream = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr const char* kGetPlain = "GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A stream that tells its length, and the plain route.
Router router_of_told_length(const std::string& length, Stream stream)
{
    Router router;
    router.add(Method::kGet, "/stream", answer_with([length, stream = std::move(stream)](Request&) {
                   Response response;
                   response.headers["Content-Length"] = length;
                   response.stream = stream;
                   return response;
               }));
    router.add(Method::kGet, "/plain", answer_with([](Request&) { return json_response(200, "plain"); }));
    return router;
}

asio::awaitable<void> write_too_much(std::shared_ptr<BodyWriter> writer)
{
    (co_await writer->write("three")).value();
    const Result<void> more = co_await writer->write("more");
    EXPECT_EQ(more.error().code, Errc::kInternal);
}

TEST(Stream, SendsChunksAndKeepsTheConnection)
{
    const TestServer server(router_of(count_to_three));
    RawClient client(server.endpoint());

    for (int i = 0; i < 3; ++i) {
        client.send(kGetStream);
        const std::string answer = client.read_until("\r\n0\r\n\r\n");
        EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
        EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
        EXPECT_THAT(answer, EndsWith("\r\n\r\n4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n"));
        client.send(kGetPlain);
        EXPECT_THAT(client.read_answer(), EndsWith("plain"));
    }
}

TEST(Stream, AnswersRequestsThatWerePipelinedBehindIt)
{
    const TestServer server(router_of([](std::shared_ptr<BodyWriter> writer) -> asio::awaitable<void> {
        (co_await writer->write("begun")).value();
        (co_await writer->sleep(100ms)).value(); // the next request arrives meanwhile and must not end it
    }));
    RawClient client(server.endpoint());

    client.send(kGetStream);
    client.read_until("begun");
    client.send(std::string(kGetPlain) + kGetPlain);

    EXPECT_THAT(client.read_until("\r\n0\r\n\r\n"), StartsWith("\r\n0"));
    EXPECT_THAT(client.read_answer(), EndsWith("plain"));
    EXPECT_THAT(client.read_answer(), EndsWith("plain"));
}

TEST(Stream, GoesToOldClientsUntilTheConnectionCloses)
{
    const TestServer server(router_of(count_to_three));
    RawClient client(server.endpoint());

    client.send("GET /stream HTTP/1.0\r\n\r\n");

    EXPECT_THAT(client.read_to_end(), EndsWith("\r\n\r\none two three"));
}

TEST(Stream, HasNoBodyForHead)
{
    const TestServer server(router_of(count_to_three));
    RawClient client(server.endpoint());

    client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
    client.send(kGetPlain);

    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Stream, MayTellItsLength)
{
    const TestServer server(router_of_told_length("13", count_to_three));
    RawClient client(server.endpoint());

    client.send(kGetStream);
    const std::string answer = client.read_answer();
    client.send(kGetPlain);

    EXPECT_THAT(answer, HasSubstr("Content-Length: 13\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Transfer-Encoding")));
    EXPECT_THAT(answer, EndsWith("\r\n\r\none two three"));
    EXPECT_THAT(client.read_answer(), EndsWith("plain")) << "the connection is kept";
    client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Length: 13\r\n"));
}

TEST(Stream, ThatEndsBeforeItsToldLengthBreaksTheConnection)
{
    const TestServer server(router_of_told_length("14", count_to_three));
    RawClient client(server.endpoint());

    client.send(kGetStream);

    EXPECT_THAT(client.read_to_end(), EndsWith("\r\n\r\none two three"));
}

TEST(Stream, SendsNoMoreThanItsToldLength)
{
    const TestServer server(router_of_told_length("5", write_too_much));
    RawClient client(server.endpoint());

    client.send(kGetStream);
    EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\nthree"));
    client.send(kGetPlain);
    EXPECT_THAT(client.read_answer(), EndsWith("plain"));
}

TEST(Stream, BreaksTheConnectionWhenTheSourceFails)
{
    const TestServer server(router_of(break_off));
    HttpClient client = server.client();
    std::string received;

    const Result<ClientResponse> response = client.stream(Method::kGet, "/stream", {}, [&](std::string_view data) {
        received += data;
        return true;
    });

    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::kUnavailable);
    EXPECT_EQ(received, "half");
    EXPECT_EQ(client.request(Method::kGet, "/plain", {}, "").value().body, "plain");
}

TEST(Stream, EndsEarlyWhenTheClientHasEnough)
{
    const auto ended = std::make_shared<std::promise<Result<void>>>();
    const TestServer server(router_of(sleep_into(ended)));
    HttpClient client = server.client();

    const ClientResponse response =
        client.stream(Method::kGet, "/stream", {}, [](std::string_view) { return false; }).value();

    EXPECT_EQ(response.status, 200);
    auto future = ended->get_future();
    ASSERT_EQ(future.wait_for(60s), std::future_status::ready) << "sleep() did not notice that the peer is gone";
    EXPECT_EQ(future.get().error().code, Errc::kUnavailable);
}

TEST(Stream, HandsBodiesOfErrorsOverAsAWhole)
{
    const TestServer server(router_of(count_to_three));
    HttpClient client = server.client();

    const ClientResponse response =
        client.stream(Method::kGet, "/nowhere", {}, [](std::string_view) { return true; }).value();

    EXPECT_EQ(response.status, 404);
    EXPECT_THAT(response.body, HasSubstr("not_found"));
}

TEST(Stream, WakesWhenTheServerStops)
{
    const auto ended = std::make_shared<std::promise<Result<void>>>();
    TestServer server(router_of(sleep_into(ended)));
    RawClient client(server.endpoint());
    client.send(kGetStream);
    client.read_until("begun");

    EXPECT_LT(server.stop(60s), 30s);

    EXPECT_EQ(ended->get_future().get().error().code, Errc::kUnavailable);
    EXPECT_EQ(client.read_to_end(), "\r\n0\r\n\r\n") << "the body must end properly";
}

TEST(Stream, FailsTheWriteToAReaderThatDoesNotRead)
{
    const auto failed = std::make_shared<std::promise<Error>>();
    ServerLimits limits;
    limits.write_time = 1s;
    const TestServer server(router_of([failed](std::shared_ptr<BodyWriter> writer) -> asio::awaitable<void> {
                                for (;;) {
                                    const Result<void> written = co_await writer->write(std::string(1 << 20, 'x'));
                                    if (written) continue;
                                    failed->set_value(written.error());
                                    co_return;
                                }
                            }),
                            limits);
    RawClient client(server.endpoint());

    client.send(kGetStream);

    auto future = failed->get_future();
    ASSERT_EQ(future.wait_for(60s), std::future_status::ready);
    EXPECT_EQ(future.get().code, Errc::kUnavailable);
}

TEST(Stream, RefusesAWriterThatIsKeptAfterTheAnswer)
{
    const auto kept = std::make_shared<std::shared_ptr<BodyWriter>>();
    const TestServer server(router_of([kept](std::shared_ptr<BodyWriter> writer) -> asio::awaitable<void> {
        *kept = writer;
        co_return;
    }));
    HttpClient client = server.client();
    client.request(Method::kGet, "/stream", {}, "").value();

    run_on_loop([&]() -> asio::awaitable<void> {
        const Result<void> written = co_await (*kept)->write("late");
        EXPECT_FALSE(written);
    });
}

} // namespace
} // namespace fathom::net::test
