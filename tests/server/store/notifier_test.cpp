#include "server/store/database.hpp"
#include "server/store/notifier.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <mutex>

namespace fathom::server {
namespace {

using test::eventually;

/// What a subscriber heard.
class Heard {
  public:
    Notifier::Callback callback()
    {
        return [this](const std::string& payload) {
            const std::scoped_lock lock(mutex_);
            payloads_.push_back(payload);
        };
    }
    std::vector<std::string> payloads() const
    {
        const std::scoped_lock lock(mutex_);
        return payloads_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> payloads_;
};

void send(Database& database, const std::string& topic, const std::string& payload)
{
    const auto work = [&](pqxx::work& transaction) -> Result<void> {
        notify(transaction, topic, payload);
        return {};
    };
    ASSERT_TRUE(database.blocking_run(work));
}

TEST(Notifier, WakesTheSubscribersOfATopic)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    Heard route;
    Heard event;
    Notifier notifier(url);
    notifier.subscribe("route", route.callback());
    notifier.subscribe("event", event.callback());
    notifier.start();
    ASSERT_TRUE(eventually([&] { return event.payloads().size() == 1; })) << "each is called once after connecting";

    send(database, "event", "42 and more");

    ASSERT_TRUE(eventually([&] { return event.payloads().size() == 2; }));
    EXPECT_EQ(event.payloads(), (std::vector<std::string>{"", "42 and more"}));
    EXPECT_EQ(route.payloads(), (std::vector<std::string>{""}));
}

TEST(Notifier, SendsNothingWhenTheTransactionRollsBack)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    Heard heard;
    Notifier notifier(url);
    notifier.subscribe("route", heard.callback());
    notifier.start();
    ASSERT_TRUE(eventually([&] { return heard.payloads().size() == 1; }));

    const auto failing = [](pqxx::work& transaction) -> Result<void> {
        notify(transaction, "route", "never");
        return Error{Errc::kConflict, "no"};
    };
    (void)database.blocking_run(failing);
    send(database, "route", "after");

    ASSERT_TRUE(eventually([&] { return heard.payloads().size() == 2; }));
    EXPECT_EQ(heard.payloads().back(), "after");
}

TEST(Notifier, ReconnectsAndCallsEverySubscriberOnce)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    Heard heard;
    Notifier notifier(url);
    notifier.subscribe("route", heard.callback());
    notifier.start();
    ASSERT_TRUE(eventually([&] { return heard.payloads().size() == 1; }));

    test::run_sql(url, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                       " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    ASSERT_TRUE(eventually([&] { return heard.payloads().size() == 2; }));
    send(database, "route", "x");

    ASSERT_TRUE(eventually([&] { return heard.payloads().size() == 3; }));
    EXPECT_EQ(heard.payloads(), (std::vector<std::string>{"", "", "x"}));
}

TEST(Notifier, StopsAtOnceAlsoWithoutADatabase)
{
    Notifier notifier("host=/nonexistent");
    notifier.start();
    const auto start = std::chrono::steady_clock::now();

    notifier.stop();

    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "it waits for nothing";
}

} // namespace
} // namespace fathom::server
