#include "core/net/task_group.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;

/// `/wait?ms=…` answers after that time; `begun` is kept when its handler runs.
Router waiting_router(std::shared_ptr<std::promise<void>> begun)
{
    Router router;
    router.add(Method::kGet, "/wait", [begun](Request request) -> asio::awaitable<Response> {
        begun->set_value();
        co_await TaskGroup::sleep(std::chrono::milliseconds(std::stol(request.query["ms"])));
        co_return json_response(200, "waited");
    });
    router.add(Method::kGet, "/now", answer_with([](Request&) { return json_response(200, "now"); }));
    return router;
}

TEST(Stop, ClosesIdleConnectionsAtOnce)
{
    TestServer server(waiting_router(nullptr));
    HttpClient first = server.client();
    first.request(Method::kGet, "/now", {}, "").value();
    RawClient second(server.endpoint());

    EXPECT_LT(server.stop(60s), 30s);

    EXPECT_EQ(second.read_to_end(), "");
    EXPECT_EQ(first.request(Method::kGet, "/now", {}, "").error().code, Errc::kUnavailable);
}

TEST(Stop, LetsARequestInFlightFinish)
{
    const auto begun = std::make_shared<std::promise<void>>();
    TestServer server(waiting_router(begun));
    auto answer = std::async(std::launch::async, [&] {
        HttpClient client = server.client();
        return client.request(Method::kGet, "/wait?ms=300", {}, "");
    });
    begun->get_future().wait();

    const auto taken = server.stop(60s);

    EXPECT_LT(taken, 30s);
    const Result<ClientResponse> response = answer.get();
    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_EQ(response->body, "waited");
    EXPECT_EQ(response->headers.at("Connection"), "close");
}

TEST(Stop, CancelsWhatOutlivesTheGrace)
{
    const auto begun = std::make_shared<std::promise<void>>();
    TestServer server(waiting_router(begun));
    auto answer = std::async(std::launch::async, [&] {
        HttpClient client = server.client();
        return client.request(Method::kGet, "/wait?ms=600000", {}, "");
    });
    begun->get_future().wait();

    const auto taken = server.stop(1s);

    EXPECT_GE(taken, 900ms);
    EXPECT_LT(taken, 30s);
    EXPECT_EQ(answer.get().error().code, Errc::kUnavailable);
}

TEST(Stop, MayBeCalledTwice)
{
    TestServer server(waiting_router(nullptr));

    EXPECT_LT(server.stop(60s), 30s);
    EXPECT_LT(server.stop(60s), 30s);
}

TEST(Stop, EndsConnectionsInTheHandshake)
{
    TestServer server(waiting_router(nullptr));
    IdleSocket stranger(server.endpoint()); // accepted before who comes next
    auto plain = std::async(std::launch::async, [&] { return stranger.exchange("\x16"); });
    HttpClient client = server.client();
    client.request(Method::kGet, "/now", {}, "").value();

    EXPECT_LT(server.stop(60s), 30s);
    EXPECT_EQ(plain.get(), "");
}

} // namespace
} // namespace fathom::net::test
