#include "core/net/answer_budget.hpp"
#include "core/net/tls_context.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <unistd.h>

// A sanitizer keeps several bytes for each of ours, and freed memory for a while: there its allocator is asked.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#include <sanitizer/allocator_interface.h>
#define FATHOM_HAS_SANITIZER_ALLOCATOR
#endif
#endif

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPing = "POST /usual HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nping";

Response size_of_body(Request& request)
{
    return json_response(200, std::to_string(request.body.size()));
}

/// `/guarded` lets in who sends an Authorization, and takes large bodies; `/usual` takes what routes take by default.
Router guarded_router()
{
    Router router;
    Guard guard = [](const Request& request) -> asio::awaitable<std::optional<Response>> {
        std::optional<Response> refusal;
        if (request.header("Authorization").empty())
            refusal = problem(Error(Errc::kUnauthenticated, "who are you?"), request.request_id);
        co_return refusal;
    };
    router.add(Method::kPost, "/guarded", answer_with(size_of_body), {.most_bytes = 8UL << 20U, .guard = guard});
    router.add(Method::kPost, "/usual", answer_with(size_of_body));
    return router;
}

std::string announce(const std::string& target, std::size_t body_bytes, const std::string& more = "")
{
    return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more +
           "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

/// What the process holds in memory.
std::size_t held_bytes()
{
#ifdef FATHOM_HAS_SANITIZER_ALLOCATOR
    return __sanitizer_get_current_allocated_bytes();
#else
    std::ifstream statm("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    statm >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
#endif
}

TEST(Strangers, StrangersAreRefusedBeforeTheirBodiesAreRead)
{
    const TestServer server(guarded_router());
    std::vector<std::unique_ptr<RawClient>> strangers;
    for (int i = 0; i < 300; ++i)
        strangers.push_back(std::make_unique<RawClient>(server.endpoint()));
    const std::size_t before = held_bytes();

    const std::string part(300'000, 'x');
    for (const auto& stranger : strangers) {
        ASSERT_TRUE(stranger->send(announce("/guarded", 4UL << 20U)));
        stranger->send(part); // refused already, perhaps
    }
    for (const auto& stranger : strangers)
        EXPECT_THAT(stranger->read_answer(), StartsWith("HTTP/1.1 401 "));

    EXPECT_LT(held_bytes(), before + (std::size_t{64} << 20U));
}

TEST(Strangers, ARefusalIsNoReasonToSendTheBodyAfterAll)
{
    const TestServer server(guarded_router());
    RawClient client(server.endpoint());

    client.send(announce("/guarded", 4UL << 20U, "Expect: 100-continue\r\n"));

    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST(Strangers, WhoPassesTheGuardMaySendTheBody)
{
    const TestServer server(guarded_router());
    HttpClient client = server.client();

    const Headers known{{"Authorization", "me"}};
    const std::string body(3UL << 20U, 'x');

    EXPECT_EQ(client.request(Method::kPost, "/guarded", known, body).value().body, "3145728");
    EXPECT_EQ(client.request(Method::kPost, "/guarded", {}, "small").value().body, "5") << "that costs no waiting";
}

TEST(Strangers, ARouteTakesSmallBodiesUnlessItSaysOtherwise)
{
    const TestServer server(guarded_router());
    HttpClient client = server.client();

    EXPECT_EQ(client.request(Method::kPost, "/usual", {}, std::string(64UL << 10U, 'x')).value().status, 200);
    EXPECT_EQ(client.request(Method::kPost, "/usual", {}, std::string((64UL << 10U) + 1, 'x')).value().status, 413);
}

TEST(Strangers, BodiesThatAreReadAtOnceHaveABudget)
{
    ServerLimits limits;
    limits.bodies_bytes = 20'000;
    // The guard is asked when what came along with the header has been read, which here is all but a byte.
    std::promise<void> is_read;
    Router router;
    router.add(Method::kPost, "/first", answer_with(size_of_body),
               {.guard = [&is_read](const Request&) -> asio::awaitable<std::optional<Response>> {
                   is_read.set_value();
                   std::optional<Response> refusal;
                   co_return refusal;
               }});
    router.add(Method::kPost, "/usual", answer_with(size_of_body));
    const TestServer server(std::move(router), limits);
    const std::string body(14'000, 'x'); // in one record of TLS, with its header
    const std::string head = announce("/usual", body.size());
    RawClient first(server.endpoint());
    first.send(announce("/first", body.size()) + body.substr(1));
    is_read.get_future().wait();

    RawClient second(server.endpoint());
    second.send(head + body.substr(1));
    const std::string refusal = second.read_answer();
    EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(refusal, HasSubstr("Retry-After: "));

    first.send("x");
    EXPECT_THAT(first.read_answer(), testing::EndsWith("14000"));
    RawClient third(server.endpoint());
    third.send(head + body);
    EXPECT_THAT(third.read_answer(), testing::EndsWith("14000"));

    RawClient large(server.endpoint()); // in two records: what comes later counts as well
    large.send(announce("/usual", 30'000) + std::string(30'000, 'x'));
    EXPECT_THAT(large.read_answer(), StartsWith("HTTP/1.1 503 "));
}

TEST(Strangers, WhoReadsSlowlyHoldsSomeLargeAnswersOnly)
{
    Router router;
    router.add(Method::kGet, "/large", answer_with([](Request&) {
                   return json_response(200, std::string(32UL << 20U, 'x')); // far more than the kernel takes
               }));
    router.add(Method::kPost, "/usual", answer_with([](Request&) { return json_response(200, "4"); }));
    ServerLimits limits;
    limits.answers_to_strangers_bytes = 40UL << 20U;
    limits.write_time = 300s;
    const TestServer server(std::move(router), limits);
    RawClient slow(server.endpoint());
    slow.receive_little();
    slow.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(slow.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    HttpClient client = server.client();

    const Result<ClientResponse> refused = client.request(Method::kGet, "/large", {}, "");

    ASSERT_TRUE(refused) << describe(refused.error());
    EXPECT_EQ(refused->status, 503);
    EXPECT_EQ(client.request(Method::kPost, "/usual", {}, "ping").value().status, 200);
    slow.close();
    const auto limit = std::chrono::steady_clock::now() + 60s;
    int status = 503;
    while (status == 503 && std::chrono::steady_clock::now() < limit)
        status = client.request(Method::kGet, "/large", {}, "").value().status;
    EXPECT_EQ(status, 200);
}

TEST(Strangers, WhoReadSlowlyTakeNothingFromReadersThatAreKnown)
{
    Router router;
    const std::string large(32UL << 20U, 'x'); // far more than the kernel takes
    router.add(Method::kGet, "/open", answer_with([large](Request&) { return json_response(200, large); }));
    router.add(Method::kGet, "/known", answer_with([large](Request&) {
                   Response response = json_response(200, large);
                   response.reader = "tok_1";
                   return response;
               }));
    ServerLimits limits;
    limits.answers_bytes = limits.answers_to_strangers_bytes = 40UL << 20U;
    limits.write_time = 300s;
    const TestServer server(std::move(router), limits);
    RawClient slow(server.endpoint());
    slow.receive_little();
    slow.send("GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(slow.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    HttpClient client = server.client();

    const int stranger = client.request(Method::kGet, "/open", {}, "").value().status;
    const int known = client.request(Method::kGet, "/known", {}, "").value().status;

    EXPECT_EQ(stranger, 503);
    EXPECT_EQ(known, 200) << "from the same address";
}

TEST(AnswerBudget, LeavesRoomForOtherReadersHoweverManyThereAre)
{
    AnswerBudget budget(32'000'000);
    std::vector<std::shared_ptr<const void>> held;
    const auto take_all = [&](const std::string& reader) {
        std::size_t taken = 0;
        while (std::shared_ptr<const void> room = budget.take(reader, 100'000)) {
            held.push_back(std::move(room));
            taken += 100'000;
        }
        return taken;
    };

    EXPECT_EQ(take_all("a"), 6'400'000U) << "a fifth";
    EXPECT_EQ(take_all("b"), 5'100'000U) << "a fifth of what is left";
    for (int i = 0; i < 10; ++i)
        EXPECT_GT(take_all("c" + std::to_string(i)), 0U);

    EXPECT_TRUE(budget.take("d", 400'000)) << "somebody else still gets a page";
    EXPECT_FALSE(budget.take("a", 400'000));
    EXPECT_TRUE(budget.take("a", 1000)) << "small ones do not count";
}

TEST(AnswerBudget, TakesWhatIsLargerThanAllOfItWhenNothingElseIsOnItsWay)
{
    AnswerBudget budget(1'000'000);
    std::shared_ptr<const void> large = budget.take("a", 5'000'000);
    EXPECT_TRUE(large);
    EXPECT_FALSE(budget.take("b", 100'000));

    large.reset();

    EXPECT_TRUE(budget.take("b", 100'000));
}

TEST(Strangers, OneNetworkGetsItsShareOfConnectionsOnly)
{
    ServerLimits limits;
    limits.connections_of_one_network = 2;
    const TestServer server(guarded_router(), limits, ClientCertificates::kOptional);
    const Credential credential = client_credential(authority(), "center");
    RawClient known(server.endpoint(), &credential);
    known.send(kPing);
    EXPECT_THAT(known.read_answer(), testing::EndsWith("\r\n\r\n4")); // its place is free, the certificate was seen
    RawClient first(server.endpoint());
    first.send(kPing);
    EXPECT_THAT(first.read_answer(), testing::EndsWith("\r\n\r\n4"));
    RawClient second(server.endpoint(), &credential);
    second.send(kPing);
    EXPECT_THAT(second.read_answer(), testing::EndsWith("\r\n\r\n4"));
    const RawClient third(server.endpoint());

    EXPECT_EQ(exchange_plain_text(server.endpoint(), "x"), "") << "a third stranger";
}

TEST(Strangers, StrangersLeaveHalfOfThePlacesToThoseWithACertificate)
{
    ServerLimits limits;
    limits.connections = 8;
    limits.connections_for_certificates = 4;
    const TestServer server(guarded_router(), limits, ClientCertificates::kOptional);
    const Credential credential = client_credential(authority(), "center");
    std::vector<std::unique_ptr<RawClient>> strangers;
    std::size_t refused = 0;
    for (int i = 0; i < 12; ++i) {
        strangers.push_back(std::make_unique<RawClient>(server.endpoint()));
        strangers.back()->send(kPing);
        if (strangers.back()->read_answer().empty()) ++refused;
    }
    EXPECT_EQ(refused, 8U);
    std::vector<IdleSocket> silent; // never shake hands
    for (int i = 0; i < 20; ++i)
        silent.emplace_back(server.endpoint());

    for (int i = 0; i < 4; ++i) {
        RawClient agent(server.endpoint(), &credential);
        agent.send(kPing);
        EXPECT_THAT(agent.read_answer(), testing::EndsWith("\r\n\r\n4")) << i;
    }
}

} // namespace
} // namespace fathom::net::test
