// How much of a token may be in work at once.
#include "core/base/secret.hpp"
#include "core/net/task_group.hpp"
#include "tests/server/identity/tokens_fixture.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace fathom::server {
namespace {

using net::Method;
using test::eventually;

/// Until it is open, what comes waits.
struct Gate {
    std::atomic<int> waiting{0};
    std::atomic<bool> is_open{false};
};

asio::awaitable<net::Response> answer_once_open(std::shared_ptr<Gate> gate)
{
    ++gate->waiting;
    while (!gate->is_open)
        co_await net::TaskGroup::sleep(std::chrono::milliseconds(5));
    co_return json_response(200, Json::object());
}

TEST_F(TokensTest, HaveSoManyReadsInWorkAtOnce)
{
    ApiRouter api(router_, identity_, std::chrono::seconds(10), {.reads = std::make_shared<TokenPlaces>(2)});
    const auto gate = std::make_shared<Gate>();
    api.add(Method::kGet, "/slow", Permission::kReadJobs, [gate](Call) { return answer_once_open(gate); });
    const auto open = std::make_shared<Gate>();
    open->is_open = true;
    api.add(Method::kGet, "/quick", Permission::kReadJobs, [open](Call) { return answer_once_open(open); });
    api.add(Method::kPost, "/quick", Permission::kReadJobs, [open](Call) { return answer_once_open(open); });
    const std::string busy = make_token(Role::kUser, "busy");
    const std::string other = make_token(Role::kUser, "other");
    std::vector<std::future<net::Response>> slow;
    for (int i = 0; i < 2; ++i)
        slow.push_back(send({.path = "/api/v1/slow", .token = busy}));
    const bool both_wait = eventually([&] { return gate->waiting == 2; });

    const net::Response refused = answer({.path = "/api/v1/quick", .token = busy});
    const int others = answer({.path = "/api/v1/quick", .token = other}).status;
    const int write = answer({.method = Method::kPost, .path = "/api/v1/quick", .token = busy}).status;
    gate->is_open = true;

    EXPECT_TRUE(both_wait);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.headers.at("Retry-After"), "1");
    EXPECT_EQ(json_of(refused)["code"], "too_many");
    EXPECT_EQ(others, 200);
    EXPECT_EQ(write, 200) << "only reads are bounded so";
    for (std::future<net::Response>& one : slow)
        EXPECT_EQ(io_.get(std::move(one)).status, 200);
    EXPECT_EQ(answer({.path = "/api/v1/quick", .token = busy}).status, 200) << "once the others are answered";
}

TEST_F(TokensTest, HaveSoManyChangesInWorkAtOnce)
{
    ApiRouter api(router_, identity_, std::chrono::seconds(10), {.changes = std::make_shared<TokenPlaces>(2)});
    const auto gate = std::make_shared<Gate>();
    api.add(Method::kPut, "/slow", Permission::kReadJobs, [gate](Call) { return answer_once_open(gate); });
    const auto open = std::make_shared<Gate>();
    open->is_open = true;
    for (const Method method : {Method::kGet, Method::kPost, Method::kDelete})
        api.add(method, "/quick", Permission::kReadJobs, [open](Call) { return answer_once_open(open); });
    const std::string busy = make_token(Role::kUser, "busy");
    const std::string other = make_token(Role::kUser, "other");
    std::vector<std::future<net::Response>> slow;
    for (int i = 0; i < 2; ++i)
        slow.push_back(send({.method = Method::kPut, .path = "/api/v1/slow", .token = busy}));
    const bool both_wait = eventually([&] { return gate->waiting == 2; });

    const net::Response refused = answer({.method = Method::kPost, .path = "/api/v1/quick", .token = busy});
    const int removal = answer({.method = Method::kDelete, .path = "/api/v1/quick", .token = busy}).status;
    const int others = answer({.method = Method::kPost, .path = "/api/v1/quick", .token = other}).status;
    const int read = answer({.path = "/api/v1/quick", .token = busy}).status;
    gate->is_open = true;

    EXPECT_TRUE(both_wait);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.headers.at("Retry-After"), "1");
    EXPECT_NE(json_of(refused)["detail"].get<std::string>().find("2 changes in work"), std::string::npos);
    EXPECT_EQ(removal, 429);
    EXPECT_EQ(others, 200);
    EXPECT_EQ(read, 200) << "reads have a number of their own";
    for (std::future<net::Response>& one : slow)
        EXPECT_EQ(io_.get(std::move(one)).status, 200);
    EXPECT_EQ(answer({.method = Method::kPost, .path = "/api/v1/quick", .token = busy}).status, 200)
        << "once the others are answered";
}

TEST_F(TokensTest, WaitForTheDatabaseInALineOfTheirOwn)
{
    ApiRouter api(router_, identity_, std::chrono::seconds(10), {.line = std::make_shared<TokenLine>(2)});
    const auto gate = std::make_shared<Gate>();
    const auto arrived = std::make_shared<std::atomic<int>>(0);
    api.add_unlined(
        Method::kGet, "/slow", Permission::kReadJobs, [gate](Call) { return answer_once_open(gate); }, kUsualBodyBytes,
        [arrived](const net::Request&) { return ++*arrived > 0; });
    const auto open = std::make_shared<Gate>();
    open->is_open = true;
    api.add(Method::kGet, "/quick", Permission::kReadJobs, [open](Call) { return answer_once_open(open); });
    api.add_unlined(Method::kGet, "/computed", Permission::kReadJobs, [open](Call) { return answer_once_open(open); });
    const std::string busy = make_token(Role::kUser, "busy");
    const std::string other = make_token(Role::kUser, "other");
    std::vector<std::future<net::Response>> slow;
    for (int i = 0; i < 5; ++i)
        slow.push_back(send({.path = "/api/v1/slow", .token = busy}));
    const bool all_arrived = eventually([&] { return *arrived == 5 && gate->waiting >= 2; });

    const int others = answer({.path = "/api/v1/quick", .token = other}).status;
    const int computed = answer({.path = "/api/v1/computed", .token = busy}).status;
    std::future<net::Response> behind = send({.path = "/api/v1/quick", .token = busy});
    const bool has_waited = behind.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout;
    const int in_work = gate->waiting;
    gate->is_open = true;

    EXPECT_TRUE(all_arrived);
    EXPECT_EQ(in_work, 2) << "of five";
    EXPECT_EQ(others, 200);
    EXPECT_EQ(computed, 200) << "needs no connection";
    EXPECT_TRUE(has_waited);
    for (std::future<net::Response>& one : slow)
        EXPECT_EQ(io_.get(std::move(one)).status, 200);
    EXPECT_EQ(io_.get(std::move(behind)).status, 200);
    EXPECT_EQ(answer({.path = "/api/v1/quick", .token = busy}).status, 200) << "the places have come back";
}

} // namespace
} // namespace fathom::server
