// Work that waits for a connection, in its lines.
#include "server/store/database.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <atomic>
#include <semaphore>
#include <set>
#include <thread>

namespace fathom::server {
namespace {

using test::eventually;

TEST(DatabaseLines, AreServedInTurn)
{
    Metrics metrics;
    Database database({.url = test::empty_database(), .connections = 1}, metrics);
    asio::io_context context;
    std::binary_semaphore entered(0);
    std::binary_semaphore leave(0);
    auto blocker = [&](pqxx::work&) -> Result<void> {
        entered.release();
        leave.acquire();
        return {};
    };
    std::string order; // written by the one thread of the pool
    auto usual = [&](pqxx::work&) -> Result<void> {
        order += 'u';
        return {};
    };
    auto vital = [&](pqxx::work&) -> Result<void> {
        order += 'v';
        return {};
    };
    std::vector<std::future<Result<void>>> all;
    const auto spawn = [&](auto& work, DatabaseLine line) {
        all.push_back(asio::co_spawn(context, database.run(work, line), asio::use_future));
        context.poll(); // as far as it goes before it has a connection
    };
    spawn(blocker, DatabaseLine::kUsual);
    entered.acquire();

    for (int i = 0; i < 4; ++i)
        spawn(usual, DatabaseLine::kUsual);
    for (int i = 0; i < 2; ++i)
        spawn(vital, DatabaseLine::kVital);
    leave.release();
    context.run();

    for (std::future<Result<void>>& one : all)
        EXPECT_TRUE(one.get());
    EXPECT_EQ(order, "vuvuuu");
}

TEST(DatabaseLine, RefusesWorkBeyondItsLength)
{
    Metrics metrics;
    Database database({.url = test::empty_database(), .connections = 1, .waiting = 2}, metrics);
    test::TestIo io;
    std::binary_semaphore entered(0);
    std::binary_semaphore leave(0);
    auto blocker = [&](pqxx::work&) -> Result<void> {
        entered.release();
        leave.acquire();
        return {};
    };
    auto quick = [](pqxx::work&) -> Result<void> { return {}; };
    auto running = io.spawn(database.run(blocker));
    entered.acquire();

    std::vector<std::future<Result<void>>> pending;
    for (int i = 0; i < 5; ++i)
        pending.push_back(io.spawn(database.run(quick)));
    const auto is_answered = [](const std::future<Result<void>>& one) {
        return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    EXPECT_TRUE(eventually([&] { return std::count_if(pending.begin(), pending.end(), is_answered) == 3; }))
        << "two may wait, the other three are refused at once";
    leave.release();

    int done = 0;
    int refused = 0;
    for (auto& one : pending) {
        const Result<void> outcome = io.get(std::move(one));
        done += outcome ? 1 : 0;
        refused += !outcome && outcome.error().code == Errc::kUnavailable ? 1 : 0;
    }
    EXPECT_EQ(done, 2);
    EXPECT_EQ(refused, 3);
    EXPECT_TRUE(io.get(std::move(running)));
}

} // namespace
} // namespace fathom::server
