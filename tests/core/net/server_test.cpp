#include "core/base/json_reader.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace fathom::net::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Router echo_router()
{
    Router router;
    router.add(Method::kPost, "/echo",
               answer_with([](Request& request) { return json_response(200, std::move(request.body)); }),
               {.most_bytes = 8UL << 20U});
    router.add(Method::kGet, "/jobs/{id}", answer_with([](Request& request) {
                   Json seen{{"id", request.path_params["id"]}, {"path", request.path}, {"query", request.query}};
                   return json_response(200, seen.dump());
               }));
    router.add(Method::kGet, "/broken", [](Request) -> asio::awaitable<Response> {
        throw std::runtime_error("secret detail");
        co_return Response();
    });
    return router;
}

TEST(Server, EchoesOverOneKeepAliveConnection)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    for (int i = 0; i < 100; ++i) {
        const std::string body = "{\"number\": " + std::to_string(i) + "}";
        const Result<ClientResponse> response = client.request(Method::kPost, "/echo", {}, body);

        ASSERT_TRUE(response) << describe(response.error());
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(response->body, body);
        EXPECT_EQ(response->headers.at("content-type"), "application/json");
        EXPECT_THAT(response->headers.at("X-Request-Id"), StartsWith("req_"));
        EXPECT_EQ(response->headers.at("X-Content-Type-Options"), "nosniff");
        EXPECT_TRUE(response->headers.contains("Strict-Transport-Security"));
        EXPECT_TRUE(response->headers.contains("Date"));
    }
}

TEST(Server, EchoesABodyOfSeveralMegabytes)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();
    std::string body;
    while (body.size() < (3UL << 20U))
        body += std::to_string(body.size());

    const Result<ClientResponse> response = client.request(Method::kPost, "/echo", {}, body);

    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_TRUE(response->body == body);
}

TEST(Server, DecodesPathParametersAndQuery)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    const auto response = client.request(Method::kGet, "/jobs/a%2Fb%C3%A9?x=1&x=2&text=a+b%26", {}, "");

    ASSERT_TRUE(response) << describe(response.error());
    const Json seen = Json::parse(response->body);
    EXPECT_EQ(seen["id"], "a/bé");
    EXPECT_EQ(seen["path"], "/jobs/a/bé");
    EXPECT_EQ(seen["query"], (Json{{"x", "2"}, {"text", "a b&"}}));
}

TEST(Server, RefusesMalformedEscapes)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    for (const char* target : {"/jobs/%", "/jobs/%2", "/jobs/%zz", "/jobs/%ff", "/jobs/%c0%80", "/jobs/%00",
                               "/jobs/1?a=%", "/jobs/1?%ed%a0%80=1"}) {
        const auto response = client.request(Method::kGet, target, {}, "");
        ASSERT_TRUE(response) << describe(response.error());
        EXPECT_EQ(response->status, 400) << target;
        EXPECT_EQ(response->headers.at("Content-Type"), "application/problem+json");
    }
}

TEST(Server, AnswersUnknownPathsAndWrongMethodsWithProblems)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    const ClientResponse unknown = client.request(Method::kGet, "/nowhere", {}, "").value();
    const ClientResponse wrong = client.request(Method::kDelete, "/jobs/1", {}, "").value();

    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(Json::parse(unknown.body)["code"], "not_found");
    EXPECT_EQ(Json::parse(unknown.body)["request_id"], unknown.headers.at("X-Request-Id"));
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(wrong.headers.at("Allow"), "GET, HEAD");
}

TEST(Server, AnswersHeadWithTheHandlerOfGetAndNoBody)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    const ClientResponse head = client.request(Method::kHead, "/jobs/7", {}, "").value();
    const ClientResponse get = client.request(Method::kGet, "/jobs/7", {}, "").value();

    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(head.headers.at("Content-Length"), std::to_string(get.body.size()));
}

TEST(Server, TurnsAHandlersExceptionInto500WithoutItsText)
{
    const TestServer server(echo_router());
    HttpClient client = server.client();

    const ClientResponse response = client.request(Method::kGet, "/broken", {}, "").value();

    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(Json::parse(response.body)["code"], "internal");
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
    EXPECT_EQ(client.request(Method::kGet, "/jobs/1", {}, "").value().status, 200);
}

TEST(Server, AnswersDeeplyPipelinedRequestsInOrder)
{
    const TestServer server(echo_router());
    RawClient client(server.endpoint());
    constexpr int kCount = 500;
    std::string requests;
    for (int i = 0; i < kCount; ++i)
        requests += "GET /jobs/" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";

    ASSERT_TRUE(client.send(requests));

    for (int i = 0; i < kCount; ++i)
        ASSERT_THAT(client.read_answer(), HasSubstr("\"id\":\"" + std::to_string(i) + "\""));
}

TEST(Server, ReadsChunkedBodiesThatArriveInPieces)
{
    const TestServer server(echo_router());
    RawClient client(server.endpoint());

    for (const char* piece : {"POST /ec", "ho HTTP/1.1\r\nHost: localhost\r\nTransfer-Enc", "oding: chunked\r\n\r\n3",
                              "\r\nab", "c\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: x\r\n", "\r\n"})
        ASSERT_TRUE(client.send(piece));

    EXPECT_THAT(client.read_answer(), testing::EndsWith("\r\n\r\nabcdefg"));
}

TEST(Server, AnswersExpectContinueBeforeTheBody)
{
    const TestServer server(echo_router());
    RawClient client(server.endpoint());

    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");

    EXPECT_THAT(client.read_answer(), testing::AllOf(StartsWith("HTTP/1.1 200"), testing::EndsWith("ok")));
}

TEST(Server, ClosesAfterConnectionCloseAndHttp10)
{
    const TestServer server(echo_router());
    for (const char* request :
         {"GET /jobs/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "GET /jobs/1 HTTP/1.0\r\n\r\n"}) {
        RawClient client(server.endpoint());
        client.send(request);
        const std::string answer = client.read_to_end();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
        EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    }
}

TEST(Server, UnderstandsAbsoluteTargetsAndLeadingBlankLines)
{
    const TestServer server(echo_router());
    RawClient client(server.endpoint());

    client.send("\r\nGET https://localhost/jobs/5?q=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");

    EXPECT_THAT(client.read_answer(), HasSubstr("\"path\":\"/jobs/5\""));
}

TEST(Server, KeepsLineBreaksInHeaderValuesFromAddingHeaders)
{
    Router router;
    router.add(Method::kGet, "/", answer_with([](Request&) {
                   Response response;
                   response.headers["X-Value"] = "a\r\nX-Injected: b";
                   return response;
               }));
    const TestServer server(std::move(router));
    HttpClient client = server.client();

    const ClientResponse response = client.request(Method::kGet, "/", {}, "").value();

    EXPECT_FALSE(response.headers.contains("X-Injected"));
}

TEST(Server, CountsRequestsByRoute)
{
    TestServer server(echo_router());
    HttpClient client = server.client();

    for (int i = 0; i < 3; ++i)
        client.request(Method::kGet, "/jobs/" + std::to_string(i), {}, "").value();
    client.request(Method::kGet, "/nowhere", {}, "").value();

    const std::string text = server.metrics().expose();
    EXPECT_THAT(text, HasSubstr("fathom_http_requests_total{method=\"GET\",route=\"/jobs/{id}\",status=\"200\"} 3"));
    EXPECT_THAT(text, HasSubstr("fathom_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1"));
    EXPECT_THAT(text, HasSubstr("fathom_http_request_seconds_count{route=\"/jobs/{id}\"} 3"));
}

TEST(Server, ReportsAnAddressThatIsTaken)
{
    const TestServer first(echo_router());

    const Result<void> second = try_to_listen({"127.0.0.1", first.endpoint().port});

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::kUnavailable);
    EXPECT_THAT(second.error().detail, HasSubstr("127.0.0.1:" + std::to_string(first.endpoint().port)));
    EXPECT_THAT(second.error().detail, HasSubstr("in use"));
}

} // namespace
} // namespace fathom::net::test
