#include "server/api/api_router.hpp"
#include "server/api/etag.hpp"
#include "server/api/paging.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

net::Request request_with(std::map<std::string, std::string> query)
{
    net::Request request;
    request.query = std::move(query);
    return request;
}

TEST(Paging, TokensCarryTheKeyThrough)
{
    const std::string after = "job_01J/ü?\xf0\x9f\x8c\x8a";
    const Json page = Json::parse(page_response(Json::array(), after).body);

    const Result<PageRequest> next = parse_page_request(
        request_with({{"page_token", page["next_page_token"].get<std::string>()}, {"page_size", "7"}}));

    ASSERT_TRUE(next) << describe(next.error());
    EXPECT_EQ(next->after, after);
    EXPECT_EQ(next->size, 7);
}

TEST(Paging, TheLastPageHasNoToken)
{
    EXPECT_TRUE(Json::parse(page_response(Json::array(), "").body)["next_page_token"].is_null());
}

TEST(Paging, RefusesATokenOfOthers)
{
    const Result<PageRequest> page = parse_page_request(request_with({{"page_token", "%%%"}}));

    ASSERT_FALSE(page);
    ASSERT_EQ(page.error().fields.size(), 1U);
    EXPECT_EQ(page.error().fields[0].field, "page_token");
}

TEST(Etag, IfMatchComparesStrongly)
{
    const auto allows = [](const std::string& header) {
        net::Request request;
        if (!header.empty()) request.headers["If-Match"] = header;
        return if_match_allows(request, 7);
    };

    EXPECT_EQ(etag(7), "\"7\"");
    EXPECT_TRUE(allows(""));
    EXPECT_TRUE(allows("\"7\""));
    EXPECT_TRUE(allows("\"3\", \"7\""));
    EXPECT_TRUE(allows("*"));
    EXPECT_FALSE(allows("\"8\""));
    EXPECT_FALSE(allows("W/\"7\""));
    EXPECT_FALSE(allows("7"));
}

TEST(Etag, PreconditionFailedIsA412Problem)
{
    const net::Response response = precondition_failed({});

    EXPECT_EQ(response.status, 412);
    EXPECT_EQ(Json::parse(response.body)["status"], 412);
}

} // namespace
} // namespace fathom::server
