#include "server/console/console_api.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using net::Method;

constexpr ConsoleFile kFiles[] = {
    {"assets/main-1a.js", "let a = 1;", "packed"},
    {"assets/style-2b.css", "a{}", {}},
    {"index.html", R"(<meta content="__CSP_NONCE__"><style nonce="__CSP_NONCE__">)", {}},
};

class ConsoleRoutes : public testing::Test {
  protected:
    ConsoleRoutes()
    {
        router_.add(Method::kGet, "/api/v1/jobs", [](net::Request) { return answer_json(); });
    }

    static net::asio::awaitable<net::Response> answer_json() { co_return net::json_response(200, "{}"); }

    net::Response get(const std::string& path, net::Headers headers = {{"Accept", "text/html,*/*"}})
    {
        net::Router::Match match = router_.match(Method::kGet, path, false);
        auto* const route = std::get_if<net::Router::Http>(&match);
        if (route == nullptr) return net::problem(Error{Errc::kNotFound, "no route"}, "");
        net::Request request;
        request.path = request.target = path;
        request.path_params = route->path_params;
        request.headers = std::move(headers);
        return io_.run((*route->handler)(std::move(request)));
    }

    net::Router router_;
    test::TestIo io_;
};

TEST_F(ConsoleRoutes, GiveTheDocumentAtEveryPageAndNothingElse)
{
    add_console_routes(router_, kFiles);

    EXPECT_EQ(get("/").status, 200);
    EXPECT_EQ(get("/jobs/job_01").status, 200);
    EXPECT_EQ(get("/jobs/job_01").headers.at("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(get("/api/v1/jobs").body, "{}");
    EXPECT_EQ(get("/api/v1/nothing").status, 404);
    EXPECT_EQ(get("/jobs", {{"Accept", "*/*"}}).status, 404) << "a program asks, and would take the page for data";
    EXPECT_TRUE(std::holds_alternative<net::Router::NotFound>(router_.match(Method::kPost, "/jobs", false)));
}

TEST_F(ConsoleRoutes, LetTheDocumentLoadFromHereOnlyWithANonceOfItsOwn)
{
    add_console_routes(router_, kFiles);

    const net::Response first = get("/");
    const net::Response second = get("/");

    const std::string policy = first.headers.at("Content-Security-Policy");
    for (const char* rule :
         {"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"})
        EXPECT_NE(policy.find(rule), std::string::npos) << rule;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    const std::size_t at = policy.find("'nonce-") + 7;
    const std::string nonce = policy.substr(at, policy.find('\'', at) - at);
    EXPECT_GE(nonce.size(), 22U);
    EXPECT_EQ(first.body, "<meta content=\"" + nonce + "\"><style nonce=\"" + nonce + "\">");
    EXPECT_NE(first.body, second.body);
    EXPECT_EQ(first.headers.at("Cache-Control"), "no-store");
}

TEST_F(ConsoleRoutes, GiveAssetsPackedToWhoTakesThem)
{
    add_console_routes(router_, kFiles);

    const net::Response packed = get("/assets/main-1a.js", {{"Accept-Encoding", "gzip, br"}});
    const net::Response plain = get("/assets/main-1a.js", {});
    const net::Response style = get("/assets/style-2b.css", {{"Accept-Encoding", "gzip"}});

    EXPECT_EQ(packed.body, "packed");
    EXPECT_EQ(packed.headers.at("Content-Encoding"), "gzip");
    EXPECT_EQ(plain.body, "let a = 1;");
    EXPECT_FALSE(plain.headers.contains("Content-Encoding"));
    EXPECT_EQ(plain.headers.at("Content-Type"), "text/javascript; charset=utf-8");
    EXPECT_NE(plain.headers.at("Cache-Control").find("immutable"), std::string::npos);
    EXPECT_EQ(style.body, "a{}") << "not packed: nothing saved";
    EXPECT_EQ(get("/assets/nothing.js").status, 404);
    EXPECT_EQ(get("/assets/../index.html").status, 404);
}

TEST_F(ConsoleRoutes, OfABuildWithoutTheConsoleSaySo)
{
    add_console_routes(router_, {});

    EXPECT_NE(get("/").body.find("without its web console"), std::string::npos);
    EXPECT_EQ(get("/jobs").status, 404);
}

} // namespace
} // namespace fathom::server
