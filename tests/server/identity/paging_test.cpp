#include "server/api/api_router.hpp"

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
        request_with({{"page_token", page["next_page_token"].get<std::string>()}, {"page_size", "7"}}), {});

    ASSERT_TRUE(next) << describe(next.error());
    EXPECT_EQ(next->after, after);
    EXPECT_EQ(next->size, 7);
}

TEST(Paging, TheLastPageHasNoToken)
{
    EXPECT_TRUE(Json::parse(page_response(Json::array(), "").body)["next_page_token"].is_null());
}

TEST(Paging, ReportsEveryWrongParameter)
{
    const Result<PageRequest> page = parse_page_request(
        request_with({{"page_size", "0"}, {"page_token", "%%%"}, {"colour", "red"}, {"state", "queued"}}), {"state"});

    ASSERT_FALSE(page);
    const Error error = page.error();
    ASSERT_EQ(error.fields.size(), 3U);
    EXPECT_EQ(error.fields[0].field, "colour");
    EXPECT_EQ(error.fields[1].field, "page_size");
    EXPECT_EQ(error.fields[2].field, "page_token");
}

TEST(Paging, SizesAreBounded)
{
    for (const char* const wrong : {"1001", "-1", "1.5", "", "x", "99999999999999999999"})
        EXPECT_FALSE(parse_page_request(request_with({{"page_size", wrong}}), {})) << wrong;
    EXPECT_TRUE(parse_page_request(request_with({{"page_size", "1000"}}), {}));
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
