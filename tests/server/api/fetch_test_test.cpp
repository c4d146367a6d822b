#include "server/api/fetch_test.hpp"
#include "tests/server/identity/api_fixture.hpp"

namespace fathom::server {
namespace {

/// Keeps what a streamed answer writes.
class CollectingWriter final : public net::BodyWriter {
  public:
    net::asio::awaitable<Result<void>> write(std::string chunk) override
    {
        largest_chunk = std::max(largest_chunk, chunk.size());
        body += chunk;
        co_return Result<void>();
    }
    net::asio::awaitable<Result<void>> sleep(std::chrono::milliseconds) override { co_return Result<void>(); }

    std::string body;
    std::size_t largest_chunk = 0;
};

net::Request asking(const std::string& address, const std::map<std::string, std::string>& query)
{
    net::Request request;
    request.path = "/fetch-test";
    request.query = query;
    request.remote_address = address;
    return request;
}

class FetchTest : public testing::Test {
  protected:
    net::Response ask(const net::Handler& handler, const std::string& address,
                      const std::map<std::string, std::string>& query)
    {
        return io.run(handler(asking(address, query)));
    }
    std::shared_ptr<CollectingWriter> body_of(const net::Response& response)
    {
        auto writer = std::make_shared<CollectingWriter>();
        auto send = [](const net::Response* answer, std::shared_ptr<net::BodyWriter> to) -> net::asio::awaitable<bool> {
            co_await answer->stream(std::move(to));
            co_return true;
        };
        io.run(send(&response, writer));
        return writer;
    }

    fathom::test::TestIo io;
};

TEST_F(FetchTest, SendsExactlyTheBytesOfItsFormula)
{
    constexpr std::size_t kBytes = 600'001; // no whole number of pieces
    const net::Response response = ask(make_fetch_test(), "10.0.0.1:5", {{"bytes", "600001"}, {"seed", "77"}});

    const auto written = body_of(response);

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.headers.at("Content-Length"), "600001");
    EXPECT_EQ(response.headers.at("Content-Type"), "application/octet-stream");
    ASSERT_EQ(written->body.size(), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i)
        ASSERT_EQ(static_cast<unsigned char>(written->body[i]), (i * 131 + (i >> 8U) * 31 + 77) & 0xFFU) << i;
    EXPECT_LE(written->largest_chunk, 256UL << 10U) << "never all of it in memory";
}

TEST_F(FetchTest, NamesEveryErrorOfTheQuery)
{
    const net::Handler handler = make_fetch_test();

    const net::Response wrong = ask(handler, "10.0.0.1:5", {{"bytes", "268435457"}, {"seed", "-1"}, {"gzip", "yes"}});

    EXPECT_EQ(wrong.status, 400);
    for (const char* field : {"\"bytes\"", "\"seed\"", "\"gzip\""})
        EXPECT_NE(wrong.body.find(field), std::string::npos) << wrong.body;
    EXPECT_EQ(ask(handler, "10.0.0.1:5", {}).status, 400);
    EXPECT_EQ(ask(handler, "10.0.0.1:5", {{"bytes", "1x"}}).status, 400);
}

TEST_F(FetchTest, IsLimitedForEachAddressAndInAll)
{
    const net::Handler handler = make_fetch_test({.streams = 3, .streams_of_one_address = 2});
    std::vector<net::Response> open;
    open.push_back(ask(handler, "10.0.0.1:1", {{"bytes", "1"}}));
    open.push_back(ask(handler, "10.0.0.1:2", {{"bytes", "1"}}));

    const net::Response third = ask(handler, "10.0.0.1:3", {{"bytes", "1"}});
    EXPECT_EQ(third.status, 429);
    EXPECT_EQ(third.headers.at("Retry-After"), "1");
    open.push_back(ask(handler, "10.0.0.2:1", {{"bytes", "1"}}));
    EXPECT_EQ(open.back().status, 200);
    EXPECT_EQ(ask(handler, "10.0.0.3:1", {{"bytes", "1"}}).status, 429) << "the server's own limit";

    open.clear(); // however an answer ends, its place is free again
    EXPECT_EQ(ask(handler, "10.0.0.1:4", {{"bytes", "1"}}).status, 200);
}

TEST_F(FetchTest, OneIpv6NetworkDoesNotTakeThePlacesOfOthers)
{
    const net::Handler handler = make_fetch_test({.streams = 16, .streams_of_one_address = 4});
    std::vector<net::Response> open;
    for (int i = 0; i < 16; ++i)
        open.push_back(ask(handler, "[2001:db8:1:2::" + std::to_string(i + 1) + "]:5", {{"bytes", "1"}}));

    EXPECT_EQ(std::count_if(open.begin(), open.end(), [](const auto& one) { return one.status == 200; }), 4);
    EXPECT_EQ(ask(handler, "[2001:db8:1:3::1]:5", {{"bytes", "1"}}).status, 200);
}

TEST_F(FetchTest, IsCutOffAfterItsTime)
{
    const net::Response response =
        ask(make_fetch_test({.time = std::chrono::seconds(0)}), "10.0.0.1:5", {{"bytes", "1000"}});

    EXPECT_EQ(body_of(response)->body, "");
}

} // namespace
} // namespace fathom::server
