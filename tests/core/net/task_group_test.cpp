#include "core/net/task_group.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace fathom::net {
namespace {

using namespace std::chrono_literals;

asio::awaitable<void> add_one(std::atomic<int>* counter)
{
    ++*counter;
    co_return;
}

asio::awaitable<void> fail()
{
    throw std::runtime_error("meant to fail");
    co_return;
}

asio::awaitable<void> sleep_long(std::atomic<int>* finished)
{
    co_await TaskGroup::sleep(600s);
    ++*finished;
}

TEST(TaskGroup, RunsTasksAndWaitsForThem)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> counter = 0;
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(group.spawn(io.get_executor(), "add", add_one(&counter)));
    EXPECT_FALSE(group.wait(0ms));

    std::thread first([&] { io.run(); });
    std::thread second([&] { io.run(); });

    EXPECT_TRUE(group.wait(60s));
    EXPECT_EQ(counter, 100);
    first.join();
    second.join();
}

TEST(TaskGroup, SurvivesATaskThatThrows)
{
    asio::io_context io;
    TaskGroup group("test");
    group.spawn(io.get_executor(), "fail", fail());

    io.run();

    EXPECT_TRUE(group.wait(0ms));
}

/// Fails the first time, then waits.
asio::awaitable<void> fail_once(std::atomic<int>* beginnings)
{
    if (++*beginnings == 1) throw std::runtime_error("meant to fail");
    co_await TaskGroup::sleep(600s);
}

TEST(TaskGroup, BeginsATaskAgainThatShallGoOn)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> beginnings = 0;
    ASSERT_TRUE(group.keep_running(io.get_executor(), "loop", [&] { return fail_once(&beginnings); }));

    while (beginnings < 2)
        io.run_one();
    EXPECT_FALSE(group.wait(0ms));
    group.close();
    io.run();

    EXPECT_TRUE(group.wait(0ms));
    EXPECT_EQ(beginnings, 2) << "close() is no failure";
    EXPECT_FALSE(group.keep_running(io.get_executor(), "loop", [&] { return fail_once(&beginnings); }));
}

TEST(TaskGroup, EndsATaskThatReturnsThoughItMightGoOn)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> counter = 0;
    ASSERT_TRUE(group.keep_running(io.get_executor(), "add", [&] { return add_one(&counter); }));

    io.run();

    EXPECT_TRUE(group.wait(0ms));
    EXPECT_EQ(counter, 1);
}

TEST(TaskGroup, RefusesTasksAfterClose)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> counter = 0;
    group.close();

    EXPECT_FALSE(group.spawn(io.get_executor(), "add", add_one(&counter)));

    io.run();
    EXPECT_EQ(counter, 0);
}

TEST(TaskGroup, CancelsTasksThatWait)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> finished = 0;
    group.spawn(io.get_executor(), "sleep", sleep_long(&finished));
    asio::post(io, [&] { asio::post(io, [&] { group.close(); }); });

    io.run();

    EXPECT_TRUE(group.wait(0ms));
    EXPECT_EQ(finished, 0);
}

TEST(TaskGroup, CancelsTasksThatHaveNotBegun)
{
    asio::io_context io;
    TaskGroup group("test");
    std::atomic<int> finished = 0;
    group.spawn(io.get_executor(), "sleep", sleep_long(&finished));
    group.close();

    io.run();

    EXPECT_TRUE(group.wait(0ms));
    EXPECT_EQ(finished, 0);
}

TEST(TaskGroup, ForgetsTasksOfAnIoContextThatIsGone)
{
    TaskGroup group("test");
    std::atomic<int> finished = 0;
    {
        asio::io_context io;
        group.spawn(io.get_executor(), "sleep", sleep_long(&finished));
        io.poll();
        EXPECT_FALSE(group.wait(0ms));
    }
    EXPECT_TRUE(group.wait(0ms));
}

} // namespace
} // namespace fathom::net
