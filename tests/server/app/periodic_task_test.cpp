#include "server/app/periodic_task.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <atomic>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::eventually;

TEST(PeriodicTaskRunner, NeverRunsATaskTwiceAtOnce)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 4}, metrics);
    test::TestIo io;
    PeriodicTaskRunner one(database, io.executor(), metrics);
    PeriodicTaskRunner two(database, io.executor(), metrics);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> runs{0};
    const PeriodicTaskRunner::Work work = [&](pqxx::work& transaction) -> Result<void> {
        most = std::max(most.load(), ++inside);
        transaction.exec("SELECT pg_sleep(0.01)");
        --inside;
        ++runs;
        return {};
    };
    one.add("sweep", 5ms, work);
    two.add("sweep", 5ms, work);

    one.start();
    two.start();

    EXPECT_TRUE(eventually([&] { return runs >= 15; }));
    one.stop();
    two.stop();
    EXPECT_EQ(most, 1);
}

TEST(PeriodicTaskRunner, GoesOnAfterAFailure)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    test::TestIo io;
    PeriodicTaskRunner tasks(database, io.executor(), metrics);
    std::atomic<int> runs{0};
    tasks.add("failing", 5ms, [&](pqxx::work&) -> Result<void> {
        ++runs;
        return Error{Errc::kConflict, "not now"};
    });

    tasks.start();

    EXPECT_TRUE(eventually([&] { return runs >= 3; }));
    tasks.stop();
    const int after_stop = runs;
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(runs, after_stop);
}

} // namespace
} // namespace fathom::server
