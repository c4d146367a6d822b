#include "server/api/compute_pool.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <semaphore>
#include <vector>

namespace fathom::server {
namespace {

using test::eventually;

class ComputePoolTest : public testing::Test {
  protected:
    /// Work that ends when it is let go.
    auto blocker()
    {
        return [this]() -> Result<int> {
            ++running_;
            leave_.acquire();
            return 0;
        };
    }
    static Result<int> quick() { return 1; }
    /// Lets all work end, and tells whether it ended well.
    void end(std::vector<std::future<Result<int>>> all)
    {
        leave_.release(static_cast<std::ptrdiff_t>(all.size()));
        for (std::future<Result<int>>& one : all)
            EXPECT_TRUE(test::TestIo::get(std::move(one)));
    }

    std::atomic<int> running_{0};
    std::counting_semaphore<64> leave_{0};
    ComputePool pool_{{.threads = 2, .most_waiting = 6, .most_of_token = 3, .most_of_strangers = 2}};
    test::TestIo io_; // after the pool: its threads end first
};

TEST_F(ComputePoolTest, ATokenHasItsShareOfTheLine)
{
    std::vector<std::future<Result<int>>> busy;
    for (int i = 0; i < 3; ++i)
        busy.push_back(io_.spawn(pool_.run("busy", blocker())));
    ASSERT_TRUE(eventually([&] { return running_ == 2; }));
    std::future<Result<int>> other = io_.spawn(pool_.run("other", quick));

    // The third may be on its way into the line yet: one more than its share is refused in any case.
    busy.push_back(io_.spawn(pool_.run("busy", blocker())));
    EXPECT_TRUE(eventually([&] {
        return std::any_of(busy.begin(), busy.end(), [](const std::future<Result<int>>& one) {
            return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
    }));
    leave_.release(3);

    int refused = 0;
    for (std::future<Result<int>>& one : busy) {
        const Result<int> outcome = test::TestIo::get(std::move(one));
        if (!outcome && outcome.error().code == Errc::kTooMany) ++refused;
    }
    EXPECT_EQ(refused, 1) << "of four";
    EXPECT_TRUE(test::TestIo::get(std::move(other)));
}

TEST_F(ComputePoolTest, StrangersTakeNothingFromTokens)
{
    std::vector<std::future<Result<int>>> strangers;
    for (int i = 0; i < 2; ++i)
        strangers.push_back(io_.spawn(pool_.run_of_stranger(blocker())));
    ASSERT_TRUE(eventually([&] { return running_ == 1; })) << "one thread is theirs";

    EXPECT_EQ(io_.run(pool_.run("token", quick)).value(), 1);
    EXPECT_EQ(io_.run(pool_.run("", quick)).value(), 1) << "nor from what is the server's own";
    end(std::move(strangers));
}

TEST_F(ComputePoolTest, TokensTakeNothingFromStrangers)
{
    std::vector<std::future<Result<int>>> all;
    for (int i = 0; i < 6; ++i)
        all.push_back(io_.spawn(pool_.run("", blocker())));
    ASSERT_TRUE(eventually([&] { return running_ == 2; }));

    EXPECT_EQ(io_.run(pool_.run_of_stranger(quick)).value(), 1);
    end(std::move(all));
}

TEST_F(ComputePoolTest, StrangersHaveALineThatEnds)
{
    std::vector<std::future<Result<int>>> all;
    for (int i = 0; i < 3; ++i)
        all.push_back(io_.spawn(pool_.run_of_stranger(blocker())));
    EXPECT_TRUE(eventually([&] {
        return std::any_of(all.begin(), all.end(), [](const std::future<Result<int>>& one) {
            return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
    }));
    leave_.release(2);

    int refused = 0;
    for (std::future<Result<int>>& one : all) {
        const Result<int> outcome = test::TestIo::get(std::move(one));
        if (!outcome && outcome.error().code == Errc::kUnavailable) ++refused;
    }
    EXPECT_EQ(refused, 1) << "of three";
}

} // namespace
} // namespace fathom::server
