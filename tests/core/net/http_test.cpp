#include "core/base/json_reader.hpp"
#include "core/net/client.hpp"
#include "core/net/http.hpp"

#include <gtest/gtest.h>

namespace fathom::net {
namespace {

TEST(Headers, AreFoundWithoutCase)
{
    Request request;
    request.headers["Content-Type"] = "text/plain";

    EXPECT_EQ(request.header("content-TYPE"), "text/plain");
    EXPECT_EQ(request.header("Accept"), "");
    EXPECT_EQ(request.headers.count("content-type"), 1U);
}

TEST(Problem, CarriesCodeDetailAndFields)
{
    const Response response =
        problem(Error(Errc::kInvalid, "the job has 1 error", {{"operators[0].n", "must be at least 1"}}), "req_1");

    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.headers.at("Content-Type"), "application/problem+json");
    const Json expected{{"type", "about:blank"},
                        {"title", "Bad Request"},
                        {"status", 400},
                        {"detail", "the job has 1 error"},
                        {"code", "invalid"},
                        {"request_id", "req_1"},
                        {"errors", Json::array({{{"field", "operators[0].n"}, {"detail", "must be at least 1"}}})}};
    EXPECT_EQ(Json::parse(response.body), expected);
}

TEST(Problem, HidesWhatAnInternalErrorSays)
{
    const Response response = problem(Error(Errc::kInternal, "password=1234", {{"table", "users"}}), "req_1");

    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body.find("1234"), std::string::npos);
    EXPECT_EQ(response.body.find("users"), std::string::npos);
}

TEST(Problem, TellsClientsHowToGoOn)
{
    EXPECT_EQ(problem(Error(Errc::kUnauthenticated, ""), "").headers.at("WWW-Authenticate"), "Bearer");
    EXPECT_TRUE(problem(Error(Errc::kTooMany, ""), "").headers.contains("Retry-After"));
    EXPECT_TRUE(problem(Error(Errc::kUnavailable, ""), "").headers.contains("Retry-After"));
}

TEST(Problem, SurvivesTextThatIsNotUtf8)
{
    EXPECT_NE(problem(Error(Errc::kInvalid, "bad \xff byte"), "").body, "");
}

TEST(ParseEndpoint, ReadsUrlsAndHostPorts)
{
    const auto text = [](std::string_view url) {
        const Result<Endpoint> endpoint = parse_endpoint(url);
        return endpoint ? endpoint->host + " " + std::to_string(endpoint->port) : "error";
    };
    EXPECT_EQ(text("https://a.example"), "a.example 443");
    EXPECT_EQ(text("https://a.example/"), "a.example 443");
    EXPECT_EQ(text("https://a.example:8443"), "a.example 8443");
    EXPECT_EQ(text("https://[::1]:8443"), "::1 8443");
    EXPECT_EQ(text("https://[::1]"), "::1 443");
    EXPECT_EQ(text("127.0.0.1:8443"), "127.0.0.1 8443");
    for (const char* bad : {"", "a.example", "http://a.example", "https://", "https://a.example/path", "a:0", "a:b",
                            "a:99999", "https://user@a", "wss://a:1", "a b:1"})
        EXPECT_EQ(text(bad), "error") << bad;
}

} // namespace
} // namespace fathom::net
