#include "support.hpp"

#include <gtest/gtest.h>

namespace fathom::net::test {
namespace {

using Params = std::map<std::string, std::string>;

Handler nothing()
{
    return answer_with([](Request&) { return Response(); });
}

Router job_router()
{
    Router router;
    router.add(Method::kGet, "/", nothing());
    router.add(Method::kGet, "/jobs", nothing());
    router.add(Method::kPost, "/jobs", nothing());
    router.add(Method::kGet, "/jobs/{id}", nothing());
    router.add(Method::kDelete, "/jobs/{id}", nothing());
    router.add(Method::kPost, "/jobs/{id}:cancel", nothing());
    router.add(Method::kPost, "/jobs/{id}:hard-cancel", nothing());
    router.add(Method::kGet, "/jobs/latest", nothing());
    router.add(Method::kGet, "/jobs/{id}/events", nothing());
    router.add(Method::kGet, "/centers/{center}/units/{unit}", nothing());
    router.add(Method::kGet, "/assets/{file*}", nothing());
    router.add_websocket("/link", [](std::shared_ptr<WebSocket>, Request) -> asio::awaitable<void> { co_return; });
    return router;
}

struct Case {
    Method method;
    const char* path;
    const char* pattern; ///< "404", "405 <Allow>", "upgrade" or the pattern
    Params params;
};

std::string outcome_of(const Router::Match& match, Params& params)
{
    if (const auto* found = std::get_if<Router::Http>(&match)) {
        params = found->path_params;
        return found->pattern;
    }
    if (const auto* wrong = std::get_if<Router::WrongMethod>(&match)) return "405 " + wrong->allowed;
    if (std::holds_alternative<Router::Upgrade>(match)) return "upgrade";
    return "404";
}

TEST(Router, FindsTheMostSpecificRoute)
{
    const Router router = job_router();
    const std::vector<Case> cases{
        {Method::kGet, "/", "/", {}},
        {Method::kGet, "/jobs", "/jobs", {}},
        {Method::kHead, "/jobs", "/jobs", {}},
        {Method::kGet, "/jobs/", "404", {}},
        {Method::kGet, "//jobs", "404", {}},
        {Method::kGet, "jobs", "404", {}},
        {Method::kGet, "", "404", {}},
        {Method::kGet, "/jobs/7", "/jobs/{id}", {{"id", "7"}}},
        {Method::kGet, "/jobs/latest", "/jobs/latest", {}},
        {Method::kGet, "/jobs/latest/events", "/jobs/{id}/events", {{"id", "latest"}}},
        {Method::kGet, "/jobs/a%2Fb", "/jobs/{id}", {{"id", "a/b"}}},
        {Method::kGet, "/jobs/a+b", "/jobs/{id}", {{"id", "a+b"}}},
        {Method::kPost, "/jobs/7:cancel", "/jobs/{id}:cancel", {{"id", "7"}}},
        {Method::kPost, "/jobs/7%3Acancel", "/jobs/{id}:cancel", {{"id", "7"}}},
        {Method::kPost, "/jobs/7%3acancel", "/jobs/{id}:cancel", {{"id", "7"}}},
        {Method::kPost, "/jobs/7:hard-cancel", "/jobs/{id}:hard-cancel", {{"id", "7"}}},
        {Method::kPost, "/jobs/:cancel", "405 GET, DELETE, HEAD", {}},
        {Method::kGet, "/jobs/7:cancel", "405 POST", {}},
        {Method::kGet, "/jobs/7:fly", "/jobs/{id}", {{"id", "7:fly"}}},
        {Method::kPut, "/jobs", "405 GET, POST, HEAD", {}},
        {Method::kGet, "/centers/c/units/u", "/centers/{center}/units/{unit}", {{"center", "c"}, {"unit", "u"}}},
        {Method::kGet, "/centers/c/units", "404", {}},
        {Method::kGet, "/assets/js/app.js", "/assets/{file*}", {{"file", "js/app.js"}}},
        {Method::kGet, "/assets", "404", {}},
        {Method::kGet, "/link", "405 ", {}},
        {Method::kGet, "/jobs/%zz", "404", {}},
    };
    for (const Case& item : cases) {
        Params params;
        const Router::Match match = router.match(item.method, item.path, false);
        EXPECT_EQ(outcome_of(match, params), item.pattern) << to_string(item.method) << " " << item.path;
        EXPECT_EQ(params, item.params) << item.path;
    }
}

TEST(Router, UpgradesOnlyWhereAWebSocketLives)
{
    const Router router = job_router();
    Params params;

    EXPECT_EQ(outcome_of(router.match(Method::kGet, "/link", true), params), "upgrade");
    EXPECT_EQ(outcome_of(router.match(Method::kGet, "/jobs", true), params), "/jobs");
    EXPECT_EQ(outcome_of(router.match(Method::kPost, "/link", true), params), "405 ");
}

TEST(RouterDeathTest, RefusesTwoHandlersInOnePlace)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Router router;
    router.add(Method::kGet, "/jobs/{id}", nothing());

    EXPECT_DEATH(router.add(Method::kGet, "/jobs/{id}", nothing()), "broken invariant");
    EXPECT_DEATH(router.add(Method::kPost, "/jobs/{name}", nothing()), "broken invariant");
}

} // namespace
} // namespace fathom::net::test
