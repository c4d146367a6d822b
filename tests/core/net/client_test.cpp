#include "core/net/task_group.hpp"
#include "core/net/tls_context.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <thread>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// When these came last: the signal of pause_thread(), and the answer of "/later".
std::atomic<std::chrono::steady_clock::time_point> paused_at;
std::atomic<std::chrono::steady_clock::time_point> answered_at;

Router router()
{
    Router routes;
    routes.add(Method::kGet, "/slow", [](Request) -> asio::awaitable<Response> {
        co_await TaskGroup::sleep(60s);
        co_return Response();
    });
    routes.add(Method::kGet, "/later", [](Request) -> asio::awaitable<Response> {
        co_await TaskGroup::sleep(300ms);
        answered_at = std::chrono::steady_clock::now();
        co_return json_response(200, "later");
    });
    routes.add(Method::kPost, "/echo",
               answer_with([](Request& request) { return json_response(200, std::move(request.body)); }),
               {.most_bytes = 8UL << 20U});
    routes.add(Method::kGet, "/host",
               answer_with([](Request& request) { return json_response(200, std::string(request.header("host"))); }));
    routes.add(Method::kDelete, "/thing", answer_with([](Request&) {
                   Response response;
                   response.status = 204;
                   return response;
               }));
    return routes;
}

Error error_of(HttpClient client, const std::string& target = "/host")
{
    const Result<ClientResponse> response = client.request(Method::kGet, target, {}, "");
    return response ? Error(Errc::kInternal, "answered " + std::to_string(response->status)) : response.error();
}

TEST(HttpClient, SaysThatAConnectionWasRefused)
{
    const Error error = error_of(HttpClient({"127.0.0.1", unused_port()}, client_tls()));

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_THAT(error.detail, HasSubstr("cannot connect to 127.0.0.1:"));
    EXPECT_THAT(error.detail, HasSubstr("refused"));
}

TEST(HttpClient, SaysThatAHostIsUnknown)
{
    const Error error = error_of(HttpClient({"no-such-host.invalid", 443}, client_tls()));

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_EQ(error.detail, "unknown host no-such-host.invalid");
}

TEST(HttpClient, SaysThatACertificateIsNotTrusted)
{
    const TestServer server(router());
    const Credential other = make_authority("Other", 1).value();

    const Error error =
        error_of(HttpClient(server.endpoint(), make_client_context(other.certificate_pem, nullptr).value()));

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_THAT(error.detail, HasSubstr("is not trusted"));
}

TEST(HttpClient, TrustsEachAuthorityOfItsFile)
{
    const TestServer server(router());
    const std::string other = make_authority("Other", 1).value().certificate_pem;
    const TlsContext both = make_client_context(other + authority().certificate_pem, nullptr).value();
    HttpClient client(server.endpoint(), both);

    const Result<ClientResponse> response = client.request(Method::kGet, "/host", {}, "");

    EXPECT_TRUE(response) << describe(response.error());
}

TEST(HttpClient, SaysThatACertificateIsForAnotherName)
{
    const TestServer server(router());

    // The resolver reads this as 127.0.0.1, the certificate does not.
    const Error error = error_of(HttpClient({"127.1", server.endpoint().port}, client_tls()));

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_THAT(error.detail, HasSubstr("another name"));
}

TEST(HttpClient, AcceptsCertificatesForAddresses)
{
    const TestServer server(router());
    HttpClient client({"127.0.0.1", server.endpoint().port}, client_tls());

    const Result<ClientResponse> response = client.request(Method::kGet, "/host", {}, "");

    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_EQ(response->body, "127.0.0.1:" + std::to_string(server.endpoint().port));
}

TEST(HttpClient, LimitsTheTimeToConnect)
{
    const SilentListener silent;
    ClientOptions options;
    options.connect_time = 100ms;

    const Error error = error_of(HttpClient(silent.endpoint(), client_tls(), options));

    EXPECT_EQ(error.code, Errc::kDeadline);
    EXPECT_THAT(error.detail, HasSubstr("within 100 ms"));
}

TEST(HttpClient, LimitsTheTimeOfAnAnswer)
{
    const TestServer server(router());
    ClientOptions options;
    options.response_time = 200ms;

    const Error error = error_of(server.client(options), "/slow");

    EXPECT_EQ(error.code, Errc::kDeadline);
    EXPECT_THAT(error.detail, HasSubstr("no answer"));
}

TEST(HttpClient, LimitsHowLongAStreamIsSilent)
{
    const TestServer server(router());
    ClientOptions options;
    options.stream_idle_time = 200ms;
    HttpClient client = server.client(options);

    const Error error = client.stream(Method::kGet, "/slow", {}, [](std::string_view) { return true; }).error();

    EXPECT_EQ(error.code, Errc::kDeadline);
    EXPECT_THAT(error.detail, HasSubstr("within 200 ms"));
}

TEST(HttpClient, CanBeInterruptedByAnotherThread)
{
    const TestServer server(router());
    HttpClient client = server.client();

    std::thread interrupter([&] {
        std::this_thread::sleep_for(200ms);
        client.interrupt();
    });
    const Result<ClientResponse> first =
        client.stream(Method::kGet, "/slow", {}, [](std::string_view) { return true; });
    interrupter.join();

    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Errc::kUnavailable);
    EXPECT_EQ(client.request(Method::kGet, "/host", {}, "").error().code, Errc::kUnavailable);
}

/// Holds up the thread that it interrupts.
void pause_thread(int)
{
    paused_at = std::chrono::steady_clock::now();
    const timespec pause{2, 400'000'000};
    ::nanosleep(&pause, nullptr);
}

/// Asks for an answer that comes 300 ms later, after which the server closes, and is held up by 200 ms until the
/// deadline is over. Nothing when that went otherwise, because the process stood still meanwhile.
std::optional<Result<ClientResponse>> read_after_deadline(const TestServer& server)
{
    ClientOptions options;
    options.response_time = 2s;
    HttpClient client = server.client(options);
    const pthread_t reader = ::pthread_self();
    paused_at = answered_at = std::chrono::steady_clock::time_point::max();
    const auto began = std::chrono::steady_clock::now();

    std::thread interrupter([&] {
        std::this_thread::sleep_for(200ms);
        ::pthread_kill(reader, SIGUSR1);
    });
    Result<ClientResponse> response = client.request(Method::kGet, "/later", {{"Connection", "close"}}, "");
    interrupter.join();

    const bool is_as_meant = std::max(paused_at.load(), answered_at.load()) < began + 1s;
    return response || is_as_meant ? std::optional(std::move(response)) : std::nullopt;
}

TEST(HttpClient, TakesAnAnswerThatCameJustBeforeItsDeadline)
{
    const TestServer server(router());
    struct sigaction action{};
    action.sa_handler = pause_thread;
    struct sigaction before{};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);

    std::optional<Result<ClientResponse>> response;
    for (int i = 0; i < 10 && !response; ++i)
        response = read_after_deadline(server);
    ::sigaction(SIGUSR1, &before, nullptr);

    ASSERT_TRUE(response) << "the process stood still each time";
    ASSERT_TRUE(*response) << describe(response->error());
    EXPECT_EQ((*response)->body, "later");
}

TEST(HttpClient, LimitsTheSizeOfAnAnswer)
{
    const TestServer server(router());
    ClientOptions options;
    options.body_bytes = 1000;
    HttpClient client = server.client(options);

    EXPECT_EQ(client.request(Method::kPost, "/echo", {}, std::string(1001, 'x')).error().code, Errc::kTooLarge);
    EXPECT_EQ(client.request(Method::kPost, "/echo", {}, std::string(1000, 'x')).value().status, 200);
}

TEST(HttpClient, ConnectsAgainWhenTheServerClosedInBetween)
{
    ServerLimits limits;
    limits.idle_time = 1s;
    const TestServer server(router(), limits);
    HttpClient client = server.client();
    // A server that is held up closes while the second is on its way, or a new connection before it was asked anything:
    // neither is a connection that was closed in between.
    Result<ClientResponse> response = Error{Errc::kUnavailable, "nothing was answered"};
    for (int i = 0; i < 5 && !response; ++i) {
        if (!client.request(Method::kPost, "/echo", {}, "first")) continue;
        std::this_thread::sleep_for(1500ms);
        response = client.request(Method::kPost, "/echo", {}, "second");
    }

    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_EQ(response->body, "second");
}

TEST(HttpClient, ReadsAnswersWithoutABody)
{
    const TestServer server(router());
    HttpClient client = server.client();

    for (int i = 0; i < 3; ++i) {
        const ClientResponse response = client.request(Method::kDelete, "/thing", {}, "").value();
        EXPECT_EQ(response.status, 204);
        EXPECT_FALSE(response.headers.contains("Content-Length"));
    }
}

TEST(HttpClient, PassesOverInterimAnswers)
{
    const TestServer server(router());
    HttpClient client = server.client();

    const ClientResponse response =
        client.request(Method::kPost, "/echo", {{"Expect", "100-continue"}}, std::string(200000, 'x')).value();

    EXPECT_EQ(response.status, 200);
}

TEST(HttpClient, RefusesWhatWouldBreakARequestApart)
{
    const TestServer server(router());
    HttpClient client = server.client();

    for (const char* target : {"", "host", "/a b", "/a\r\nX: y"})
        EXPECT_EQ(client.request(Method::kGet, target, {}, "").error().code, Errc::kInvalid);
    EXPECT_EQ(client.request(Method::kGet, "/host", {{"X", "a\r\nY: b"}}, "").error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::net::test
