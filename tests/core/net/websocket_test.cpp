#include "core/net/task_group.hpp"
#include "core/net/websocket_client.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using Socket = std::shared_ptr<WebSocket>;

Router router_of(WebSocketHandler handler)
{
    Router router;
    router.add_websocket("/link", std::move(handler));
    router.add(Method::kGet, "/page", answer_with([](Request&) { return json_response(200, "{}"); }));
    router.add(Method::kGet, "/forbidden", answer_with([](Request& request) {
                   return problem(Error(Errc::kForbidden, "agents only"), request.request_id);
               }));
    return router;
}

asio::awaitable<void> echo(Socket socket, Request)
{
    for (;;) {
        Result<std::string> message = co_await socket->read();
        if (!message) co_return;
        if (!socket->send(std::move(*message))) co_return;
    }
}

/// Reads until the end and keeps a promise with the reason.
WebSocketHandler report_end(std::shared_ptr<std::promise<Error>> ended)
{
    return [ended](Socket socket, Request) -> asio::awaitable<void> {
        for (;;) {
            const Result<std::string> message = co_await socket->read();
            if (message) continue;
            ended->set_value(message.error());
            co_return;
        }
    };
}

asio::awaitable<Result<Socket>> connect(const TestServer& server, std::string target = "/link",
                                        ClientOptions options = {})
{
    return connect_websocket(server.endpoint(), client_tls(), std::move(target), options);
}

TEST(WebSocket, EchoesInOrder)
{
    const TestServer server(router_of(echo));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        const std::string large(3 << 20, 'x');
        for (int i = 0; i < 200; ++i)
            socket->send(std::to_string(i)).value();
        socket->send(large).value();

        for (int i = 0; i < 200; ++i)
            EXPECT_EQ((co_await socket->read()).value(), std::to_string(i));
        EXPECT_TRUE((co_await socket->read()).value() == large);
        socket->close("done");
    });
}

TEST(WebSocket, GivesTheHandlerItsRequest)
{
    Router router;
    router.add_websocket("/centers/{id}", [](Socket socket, Request request) -> asio::awaitable<void> {
        socket->send(request.path_params["id"] + " " + request.query["v"]).value();
        co_return;
    });
    const TestServer server(std::move(router));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server, "/centers/c%201?v=2")).value();
        EXPECT_EQ((co_await socket->read()).value(), "c 1 2");
        const Result<std::string> end = co_await socket->read();
        EXPECT_EQ(end.error().code, Errc::kUnavailable) << "the connection ends with its handler";
    });
}

TEST(WebSocket, SendsWhatIsQueuedBeforeItCloses)
{
    const TestServer server(router_of([](Socket socket, Request) -> asio::awaitable<void> {
        for (int i = 0; i < 50; ++i)
            socket->send(std::string(100000, 'x')).value();
        socket->close("enough");
        EXPECT_FALSE(socket->is_open());
        EXPECT_EQ(socket->send("late").error().code, Errc::kUnavailable);
        co_return;
    }));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        for (int i = 0; i < 50; ++i)
            EXPECT_EQ((co_await socket->read()).value().size(), 100000U);
        const Result<std::string> end = co_await socket->read();
        EXPECT_THAT(end.error().detail, HasSubstr("enough"));
        EXPECT_FALSE(socket->is_open());
    });
}

TEST(WebSocket, TellsAPeerByACodeThatItIsRefused)
{
    const auto ended = std::make_shared<std::promise<Error>>();
    const TestServer server(router_of(report_end(ended)));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        socket->close("not, or no longer, accepted", CloseKind::kRefused);
    });
    const Error end = ended->get_future().get();
    EXPECT_EQ(end.code, Errc::kForbidden);
    EXPECT_THAT(end.detail, HasSubstr("no longer, accepted"));
}

TEST(WebSocket, TellsTheServerWhenTheClientCloses)
{
    const auto ended = std::make_shared<std::promise<Error>>();
    const TestServer server(router_of(report_end(ended)));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        socket->close("going home");
        socket->close("twice does no harm");
    });
    EXPECT_THAT(ended->get_future().get().detail, HasSubstr("going home"));
}

TEST(WebSocket, RefusesMessagesOverTheLimit)
{
    const auto ended = std::make_shared<std::promise<Error>>();
    ServerLimits limits;
    limits.websocket_message_bytes = 1000;
    const TestServer server(router_of(report_end(ended)), limits);
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        socket->send(std::string(1001, 'x')).value();
        EXPECT_FALSE(co_await socket->read());
    });
    EXPECT_EQ(ended->get_future().get().code, Errc::kTooLarge);
}

TEST(WebSocket, DropsAPeerThatReadsTooSlowly)
{
    const auto refused = std::make_shared<std::promise<Error>>();
    ServerLimits limits;
    limits.websocket_queue_bytes = 8 << 20;
    const TestServer server(router_of([refused](Socket socket, Request) -> asio::awaitable<void> {
                                Result<void> sent;
                                while (sent)
                                    sent = socket->send(std::string(1 << 20, 'x'));
                                refused->set_value(sent.error());
                                EXPECT_FALSE(co_await socket->read());
                            }),
                            limits);
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        EXPECT_EQ(refused->get_future().get().code, Errc::kTooMany);
        Result<std::string> message = std::string();
        while (message)
            message = co_await socket->read();
        EXPECT_EQ(message.error().code, Errc::kUnavailable);
    });
}

TEST(WebSocket, DropsAPeerThatIsSilent)
{
    const auto ended = std::make_shared<std::promise<Error>>();
    ServerLimits limits;
    limits.websocket_idle_time = 400ms;
    const TestServer server(router_of(report_end(ended)), limits);
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        // Nobody reads here, so no ping is answered.
        auto future = ended->get_future();
        EXPECT_EQ(future.wait_for(60s), std::future_status::ready);
        EXPECT_THAT(future.get().detail, HasSubstr("silent"));
    });
}

/// Says something after more than twice the time for which a connection may be silent; how that was answered.
Result<std::string> speak_after_silence(const TestServer& server)
{
    Result<std::string> answer = std::string();
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        std::thread later([socket] {
            std::this_thread::sleep_for(7s);
            static_cast<void>(socket->send("hello")); // the answer tells
        });
        answer = co_await socket->read();
        later.join();
    });
    return answer;
}

TEST(WebSocket, KeepsAQuietConnectionAliveByPings)
{
    ServerLimits limits;
    limits.websocket_idle_time = 3s;
    const TestServer server(router_of([](Socket socket, Request) -> asio::awaitable<void> {
                                const Result<std::string> message = co_await socket->read();
                                if (message) socket->send("still here").value();
                            }),
                            limits);

    // Without pings none lives so long. With them one is lost only when the process has stood still meanwhile.
    Result<std::string> answer = speak_after_silence(server);
    for (int i = 0; i < 3 && !answer; ++i)
        answer = speak_after_silence(server);

    ASSERT_TRUE(answer) << describe(answer.error());
    EXPECT_EQ(*answer, "still here");
}

TEST(WebSocket, TakesMessagesFromSeveralThreads)
{
    const TestServer server(router_of(echo));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        std::vector<std::thread> senders;
        for (int t = 0; t < 4; ++t) {
            senders.emplace_back([socket] {
                for (int i = 0; i < 100; ++i)
                    socket->send("x").value();
            });
        }
        int count = 0;
        while (count < 400) {
            // Named: with co_await behind an && in its condition, GCC 12 never ends the loop.
            const Result<std::string> message = co_await socket->read();
            if (!message) break;
            ++count;
        }
        for (std::thread& sender : senders)
            sender.join();
        EXPECT_EQ(count, 400);
        socket->close("");
    });
}

TEST(WebSocket, SaysWhyTheUpgradeWasRefused)
{
    const TestServer server(router_of(echo));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Result<Socket> missing = co_await connect(server, "/nowhere");
        EXPECT_EQ(missing.error().code, Errc::kNotFound);
        const Result<Socket> page = co_await connect(server, "/page");
        EXPECT_EQ(page.error().code, Errc::kUnavailable);
        const Result<Socket> forbidden = co_await connect(server, "/forbidden");
        EXPECT_EQ(forbidden.error().code, Errc::kForbidden);
        EXPECT_THAT(forbidden.error().detail, HasSubstr("agents only"));
    });
}

TEST(WebSocket, SaysWhyThereIsNoConnection)
{
    run_on_loop([&]() -> asio::awaitable<void> {
        const Endpoint nobody{"127.0.0.1", unused_port()};
        const Result<Socket> refused = co_await connect_websocket(nobody, client_tls(), "/link", {});
        EXPECT_EQ(refused.error().code, Errc::kUnavailable);
        EXPECT_THAT(refused.error().detail, HasSubstr("refused"));

        const SilentListener silent;
        ClientOptions options;
        options.connect_time = 100ms;
        const Result<Socket> late = co_await connect_websocket(silent.endpoint(), client_tls(), "/link", options);
        EXPECT_EQ(late.error().code, Errc::kDeadline);
    });
}

TEST(WebSocket, AnswersPlainRequestsWith426)
{
    const TestServer server(router_of(echo));
    HttpClient client = server.client();

    const ClientResponse response = client.request(Method::kGet, "/link", {}, "").value();

    EXPECT_EQ(response.status, 426);
    EXPECT_EQ(response.headers.at("Upgrade"), "websocket");
}

TEST(WebSocket, ClosesWhenItsHandlerThrows)
{
    const TestServer server(router_of([](Socket, Request) -> asio::awaitable<void> {
        throw std::runtime_error("broken");
        co_return;
    }));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        EXPECT_FALSE(co_await socket->read());
    });
}

TEST(WebSocket, ClosesWhenTheServerStops)
{
    TestServer server(router_of(echo));
    std::promise<void> connected;
    std::string reason;
    std::thread client([&] {
        run_on_loop([&]() -> asio::awaitable<void> {
            const Socket socket = (co_await connect(server)).value();
            connected.set_value();
            reason = (co_await socket->read()).error().detail;
        });
    });
    connected.get_future().wait();

    EXPECT_LT(server.stop(60s), 30s);

    client.join();
    EXPECT_THAT(reason, HasSubstr("the server is stopping"));
}

TEST(WebSocket, LetsACancelledReaderGo)
{
    const TestServer server(router_of(echo));
    run_on_loop([&]() -> asio::awaitable<void> {
        const Socket socket = (co_await connect(server)).value();
        bool read_ended = false;
        TaskGroup group("test");
        auto reader = [](Socket from, bool* ended) -> asio::awaitable<void> {
            const Result<std::string> message = co_await from->read();
            EXPECT_FALSE(message);
            *ended = true;
        };
        group.spawn(co_await asio::this_coro::executor, "reader", reader(socket, &read_ended));
        co_await TaskGroup::sleep(50ms);
        group.close();
        for (int i = 0; i < 3000 && !group.wait(0ms); ++i)
            co_await TaskGroup::sleep(10ms);
        EXPECT_TRUE(group.wait(0ms));
    });
}

} // namespace
} // namespace fathom::net::test
