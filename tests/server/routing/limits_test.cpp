#include "server/api/compute_pool.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <algorithm>
#include <future>
#include <thread>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;

TEST(TokenRate, AllowsABurstAndThenSoManyASecond)
{
    TokenRate rate(3, 2);
    const Moment start{};
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(rate.take("a", start));

    const Result<void> refused = rate.take("a", start);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooMany);
    EXPECT_THAT(refused.error().detail, testing::HasSubstr("in 1 second"));
    EXPECT_TRUE(rate.take("b", start)) << "another token has its own";
    EXPECT_FALSE(rate.take("a", start + 400ms));
    EXPECT_TRUE(rate.take("a", start + 500ms));
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(rate.take("a", start + 1h));
    EXPECT_FALSE(rate.take("a", start + 1h)) << "rest gives no more than the burst";
}

TEST(TokenRate, SaysHowLongToWaitAndTakesNothingForThat)
{
    TokenRate rate(2, 0.5);
    const Moment start{};
    EXPECT_EQ(rate.wait_of("a", start), 0s);
    EXPECT_EQ(rate.try_take("a", start), 0s);
    EXPECT_EQ(rate.wait_of("a", start), 0s);
    EXPECT_EQ(rate.try_take("a", start), 0s) << "having looked took nothing";

    EXPECT_EQ(rate.wait_of("a", start), 2s);
    EXPECT_EQ(rate.try_take("a", start + 1s), 1s);
    EXPECT_EQ(rate.try_take("a", start + 2s), 0s) << "what was refused took nothing";
}

TEST(TokenRate, RemembersWhoIsSlowedDownAmongManyTokens)
{
    TokenRate rate(1, 0.001);
    const Moment start{};
    EXPECT_TRUE(rate.take("a", start));
    for (int i = 0; i < 3000; ++i)
        EXPECT_TRUE(rate.take("b" + std::to_string(i), start + std::chrono::milliseconds(i)));

    EXPECT_FALSE(rate.take("a", start + 3s));
    EXPECT_TRUE(rate.take("a", start + 1001s));
}

TEST(TokenPlaces, AreGivenBack)
{
    TokenPlaces places(2);
    std::shared_ptr<const void> first = places.take("a");
    const std::shared_ptr<const void> second = places.take("a");
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(places.take("a"));
    EXPECT_TRUE(places.take("b"));

    first.reset();

    EXPECT_TRUE(places.take("a"));
}

class Computing : public JobsFixture {};

TEST_F(Computing, TakesNoThreadOfTheDatabaseAndBoundsEachToken)
{
    std::promise<void> open;
    const std::shared_future<void> gate = open.get_future().share();
    std::vector<std::future<Result<int>>> asked;
    for (int i = 0; i < 5; ++i) { // whichever of them comes last
        auto work = [gate]() -> Result<int> {
            gate.wait();
            return 7;
        };
        asked.push_back(io_.spawn(compute_.run("tok_a", std::move(work))));
    }
    const auto is_answered = [](const std::future<Result<int>>& answer) {
        return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    ASSERT_TRUE(test::eventually([&] { return std::any_of(asked.begin(), asked.end(), is_answered); }));

    // Previews of others wait behind them, while agents are heard and jobs are listed.
    EXPECT_EQ(call(net::Method::kGet, "/jobs").status, 200);
    EXPECT_EQ(std::count_if(asked.begin(), asked.end(), is_answered), 1);
    open.set_value();
    int computed = 0;
    for (std::future<Result<int>>& one : asked) {
        const Result<int> answer = test::TestIo::get(std::move(one));
        if (answer)
            computed += *answer;
        else
            EXPECT_EQ(answer.error().code, Errc::kTooMany);
    }
    EXPECT_EQ(computed, 4 * 7);
    auto more = []() -> Result<int> { return 8; };
    EXPECT_TRUE(test::eventually([&] { return run(compute_.run("tok_a", more)).has_value(); })) << "once they are gone";
}

TEST_F(Computing, ATokenHasSoManyStreamsAtOnce)
{
    add_center("alpha");
    const std::string log = "/jobs/" + job_in("running").value + "/logs/stdout?follow=true";
    std::vector<net::Response> open;
    for (int i = 0; i < 8; ++i) {
        open.push_back(call(net::Method::kGet, log));
        EXPECT_EQ(open.back().status, 200);
    }

    const net::Response refused = call(net::Method::kGet, log);

    EXPECT_EQ(refused.status, 429);
    EXPECT_FALSE(std::string(refused.headers.at("Retry-After")).empty());
    EXPECT_EQ(call(net::Method::kGet, "/events").status, 429);
    open.pop_back();
    EXPECT_EQ(call(net::Method::kGet, log).status, 200);
}

TEST_F(Computing, WhoFollowsAQuietJobLooksRarely)
{
    add_center("alpha");
    const JobId job = job_in("running");
    const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=true");
    const auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(response.stream(writer));

    const auto has_paused = [&](std::chrono::milliseconds length) {
        const std::vector<std::chrono::milliseconds> pauses = writer->pauses();
        return std::find(pauses.begin(), pauses.end(), length) != pauses.end();
    };
    EXPECT_TRUE(test::eventually([&] { return has_paused(2000ms); }));
    EXPECT_TRUE(has_paused(200ms)) << "at first";
    writer->hang_up();
    test::TestIo::get(std::move(done));
}

} // namespace
} // namespace fathom::server
