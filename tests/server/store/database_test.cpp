#include "server/store/after_commit.hpp"
#include "server/store/database.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/savepoint.hpp"
#include "server/store/statement.hpp"
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
using test::run_sql;

class DatabaseTest : public testing::Test {
  protected:
    explicit DatabaseTest(std::size_t connections = 2, std::size_t waiting = 100)
        : database_(
              {.url = url_, .connections = connections, .waiting = waiting, .statement_limit = std::chrono::minutes(1)},
              metrics_)
    {
        run_sql(url_, "CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL CHECK (name <> 'bad'))");
    }

    /// One statement in one transaction.
    Result<std::string> query(const std::string& sql) { return query(database_, sql); }
    Result<std::string> query(Database& database, const std::string& sql)
    {
        auto work = [sql](pqxx::work& transaction) -> Result<std::string> {
            const pqxx::result rows = transaction.exec(sql);
            return rows.empty() ? std::string() : rows[0][0].as<std::string>();
        };
        return io_.run(database.run(work));
    }

    const std::string url_ = test::empty_database();
    Metrics metrics_;
    Database database_;
    test::TestIo io_; // after the database: its threads end first
};

TEST_F(DatabaseTest, CommitsWhenTheWorkSucceeds)
{
    const Result<std::string> inserted = query("INSERT INTO item VALUES (1, 'a') RETURNING name");

    ASSERT_TRUE(inserted) << inserted.error().detail;
    EXPECT_EQ(*inserted, "a");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "1");
}

TEST_F(DatabaseTest, LongValuesAreCompressedByLz4)
{
    const Result<std::string> inserted =
        query("INSERT INTO item VALUES (1, repeat('long text ', 10000)) RETURNING name IS NOT NULL");

    ASSERT_TRUE(inserted) << inserted.error().detail;
    EXPECT_EQ(run_sql(url_, "SELECT pg_column_compression(name) FROM item"), "lz4")
        << "Debian's PostgreSQL has been built with it";
}

TEST_F(DatabaseTest, RollsBackWhenTheWorkGivesAnError)
{
    auto work = [](pqxx::work& transaction) -> Result<void> {
        transaction.exec("INSERT INTO item VALUES (1, 'a')");
        return Error{Errc::kNotFound, "something else is missing"};
    };

    const Result<void> outcome = io_.run(database_.run(work));

    EXPECT_EQ(outcome.error().code, Errc::kNotFound);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "0");
}

TEST_F(DatabaseTest, RollsBackWhenTheWorkThrows)
{
    auto work = [](pqxx::work& transaction) -> Result<void> {
        transaction.exec("INSERT INTO item VALUES (1, 'a')");
        throw std::runtime_error("a defect");
    };

    const Result<void> outcome = io_.run(database_.run(work));

    EXPECT_EQ(outcome.error().code, Errc::kInternal);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "0");
}

TEST_F(DatabaseTest, SortsSqlErrorsIntoClasses)
{
    ASSERT_TRUE(query("INSERT INTO item VALUES (1, 'a')"));

    const Error conflict = query("INSERT INTO item VALUES (1, 'b')").error();
    EXPECT_EQ(conflict.code, Errc::kConflict);
    EXPECT_EQ(conflict.detail, "something like this exists already") << "clients see it, and nothing of tables";
    EXPECT_EQ(query("INSERT INTO item VALUES (2, 'bad')").error().code, Errc::kInternal);
    EXPECT_EQ(query("SELECT nonsense").error().code, Errc::kInternal);
}

TEST_F(DatabaseTest, EndsStatementsThatTakeTooLong)
{
    Metrics metrics;
    Database impatient({.url = url_, .connections = 2, .statement_limit = std::chrono::milliseconds(300)}, metrics);

    EXPECT_EQ(query(impatient, "SELECT pg_sleep(60)").error().code, Errc::kDeadline);
    EXPECT_TRUE(eventually([&] { return query(impatient, "SELECT 1").has_value(); }))
        << "the connections must be fit for use afterwards";
    impatient.stop();
}

TEST_F(DatabaseTest, RunsAgainAfterASerializationFailure)
{
    auto runs = std::make_shared<std::atomic<int>>(0);
    auto work = [runs](pqxx::work& transaction) -> Result<int> {
        if (++*runs < 3) transaction.exec("DO $$ BEGIN RAISE EXCEPTION 'try again' USING ERRCODE = '40001'; END $$");
        return runs->load();
    };

    const Result<int> outcome = io_.run(database_.run(work));

    ASSERT_TRUE(outcome) << outcome.error().detail;
    EXPECT_EQ(*outcome, 3);
}

TEST_F(DatabaseTest, GivesUpAfterThreeRepeats)
{
    auto runs = std::make_shared<std::atomic<int>>(0);
    auto work = [runs](pqxx::work& transaction) -> Result<void> {
        ++*runs;
        transaction.exec("DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$");
        return {};
    };

    EXPECT_EQ(io_.run(database_.run(work)).error().code, Errc::kConflict);
    EXPECT_EQ(runs->load(), 4);
}

TEST_F(DatabaseTest, DoesOnceAfterTheCommitWhatRepeatedWorkLeavesForThen)
{
    auto runs = std::make_shared<std::atomic<int>>(0);
    auto acts = std::make_shared<std::atomic<int>>(0);
    auto work = [runs, acts](pqxx::work& transaction) -> Result<void> {
        after_commit([acts] { ++*acts; });
        if (++*runs < 3) transaction.exec("DO $$ BEGIN RAISE EXCEPTION 'try again' USING ERRCODE = '40001'; END $$");
        EXPECT_EQ(acts->load(), 0) << "not before the commit";
        return {};
    };

    ASSERT_TRUE(io_.run(database_.run(work)));

    EXPECT_EQ(runs->load(), 3);
    EXPECT_EQ(acts->load(), 1);
}

TEST_F(DatabaseTest, LeavesUndoneWhatWasToFollowACommitThatNeverCame)
{
    auto acts = std::make_shared<std::atomic<int>>(0);
    auto refused = [acts](pqxx::work&) -> Result<void> {
        after_commit([acts] { ++*acts; });
        return Error{Errc::kNotFound, "something else is missing"};
    };
    auto in_parts = [acts](pqxx::work& transaction) -> Result<void> {
        const auto bad = [&]() -> Result<void> {
            after_commit([acts] { *acts += 10; });
            return Error{Errc::kInvalid, "a bad row"};
        };
        const auto good = [&]() -> Result<void> {
            after_commit([acts] { *acts += 100; });
            return {};
        };
        EXPECT_FALSE(in_savepoint(transaction, bad));
        EXPECT_TRUE(in_savepoint(transaction, good));
        return {};
    };

    EXPECT_FALSE(io_.run(database_.run(refused)));
    EXPECT_EQ(acts->load(), 0);
    ASSERT_TRUE(io_.run(database_.run(in_parts)));

    EXPECT_EQ(acts->load(), 100) << "of the part that was kept";
}

TEST_F(DatabaseTest, LogsOnceWhatRepeatedWorkDidAndNothingOfWhatWasUndone)
{
    int runs = 0;
    auto repeated = [&runs](pqxx::work& transaction) -> Result<void> {
        log_after_commit(
            LogLevel::kInfo, "thing_" + std::string("done"),
            {{"name", std::string("a name that fits into no small string: ") + std::to_string(runs)}, {"run", runs}});
        if (++runs < 3) transaction.exec("DO $$ BEGIN RAISE EXCEPTION 'try again' USING ERRCODE = '40001'; END $$");
        return {};
    };
    auto refused = [](pqxx::work&) -> Result<void> {
        log_after_commit(LogLevel::kWarning, "thing_undone", {{"name", "b"}});
        return Error{Errc::kNotFound, "something else is missing"};
    };
    testing::internal::CaptureStderr();

    const Result<void> kept = database_.blocking_run(repeated);
    const Result<void> undone = database_.blocking_run(refused);
    log_after_commit(LogLevel::kInfo, "outside", {});
    const std::string lines = testing::internal::GetCapturedStderr();

    EXPECT_TRUE(kept);
    EXPECT_FALSE(undone);
    EXPECT_EQ(runs, 3);
    const std::string last = R"("event":"thing_done","name":"a name that fits into no small string: 2","run":2)";
    EXPECT_NE(lines.find(last), std::string::npos) << lines;
    EXPECT_EQ(lines.find("thing_done"), lines.rfind("thing_done")) << lines;
    EXPECT_EQ(lines.find("thing_undone"), std::string::npos) << lines;
    EXPECT_NE(lines.find("outside"), std::string::npos) << lines;
}

TEST_F(DatabaseTest, ReplacesConnectionsThatDiedWhileIdle)
{
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(query("SELECT 1"));
    run_sql(url_, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                  " WHERE datname = current_database() AND pid <> pg_backend_pid()");

    for (int i = 0; i < 4; ++i) {
        const Result<std::string> outcome = query("SELECT 1");
        EXPECT_TRUE(outcome) << outcome.error().detail;
    }
}

TEST_F(DatabaseTest, AStatementAloneIsATransactionOfItsOwn)
{
    auto insert = [](pqxx::transaction_base& transaction) -> Result<std::string> {
        return transaction.exec("INSERT INTO item VALUES (1, 'a') RETURNING pg_current_xact_id()::text")[0][0]
            .as<std::string>();
    };
    auto insert_bad = [](pqxx::transaction_base& transaction) -> Result<void> {
        transaction.exec("INSERT INTO item VALUES (2, 'b'), (3, 'bad')");
        return {};
    };

    const Result<std::string> inserted = io_.run(database_.run_statement(insert));
    const Result<void> refused = io_.run(database_.run_statement(insert_bad));

    ASSERT_TRUE(inserted) << inserted.error().detail;
    EXPECT_EQ(refused.error().code, Errc::kInternal);
    EXPECT_EQ(run_sql(url_, "SELECT string_agg(name, ',') FROM item"), "a") << "all of a statement or nothing of it";
}

TEST_F(DatabaseTest, AStatementAloneFindsOutAboutConnectionsThatDiedWhileIdle)
{
    auto count = [](pqxx::transaction_base& transaction) -> Result<int> {
        return transaction.exec("SELECT count(*) FROM item")[0][0].as<int>();
    };
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(io_.run(database_.run_statement(count)));
    run_sql(url_, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                  " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    ASSERT_TRUE(eventually([&] {
        return run_sql(url_, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == "1";
    }));

    for (int i = 0; i < 4; ++i) {
        const Result<int> counted = io_.run(database_.run_statement(count));
        EXPECT_TRUE(counted) << counted.error().detail;
    }
}

TEST_F(DatabaseTest, AStatementAloneThatMayHaveRunIsNotRepeated)
{
    std::atomic<int> runs{0};
    auto break_off = [&](pqxx::transaction_base& transaction) -> Result<void> {
        ++runs;
        transaction.exec("SELECT pg_terminate_backend(pg_backend_pid())");
        return {};
    };

    const Result<void> outcome = io_.run(database_.run_statement(break_off));

    EXPECT_EQ(outcome.error().code, Errc::kUnavailable);
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(query("SELECT 1")) << "the connection is replaced";
}

TEST_F(DatabaseTest, SaysUnavailableWhenTheConnectionBreaksDuringTheWork)
{
    const Result<std::string> broken = query("SELECT pg_terminate_backend(pg_backend_pid())");

    EXPECT_EQ(broken.error().code, Errc::kUnavailable) << broken.error().detail;
    EXPECT_TRUE(query("SELECT 1"));
}

TEST_F(DatabaseTest, SessionSettingsHoldOnReplacedConnections)
{
    EXPECT_EQ(*query("SHOW statement_timeout"), "1min");
    (void)query("SELECT pg_terminate_backend(pg_backend_pid())");

    EXPECT_EQ(*query("SHOW statement_timeout"), "1min");
    EXPECT_EQ(*query("SHOW TimeZone"), "UTC");
}

TEST_F(DatabaseTest, PreparedStatementsWorkOnEveryConnection)
{
    static constexpr Statement kAdd{"test_add", "SELECT $1::int + $2::int"};
    auto work = [](pqxx::work& transaction) -> Result<int> { return exec(transaction, kAdd, 1, 2)[0][0].as<int>(); };

    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(*io_.run(database_.run(work)), 3);
        if (i == 3) (void)query("SELECT pg_terminate_backend(pg_backend_pid())");
    }
}

class ManyConnectionsTest : public DatabaseTest {
  protected:
    ManyConnectionsTest() : DatabaseTest(8) {}
};

TEST_F(ManyConnectionsTest, AFloodOfOneLineLeavesTheOtherAConnection)
{
    std::counting_semaphore<64> leave(0);
    std::atomic<int> entered{0};
    auto blocker = [&](pqxx::work&) -> Result<void> {
        ++entered;
        leave.acquire();
        return {};
    };
    auto quick = [](pqxx::work& transaction) -> Result<void> {
        transaction.exec("SELECT 1");
        return {};
    };
    for (const DatabaseLine flooded : {DatabaseLine::kUsual, DatabaseLine::kVital}) {
        const DatabaseLine other = flooded == DatabaseLine::kUsual ? DatabaseLine::kVital : DatabaseLine::kUsual;
        entered = 0;
        std::vector<std::future<Result<void>>> flood;
        for (int i = 0; i < 20; ++i)
            flood.push_back(io_.spawn(database_.run(blocker, flooded)));
        EXPECT_TRUE(eventually([&] { return entered == 7; })) << "of eight connections";

        std::future<Result<void>> needed = io_.spawn(database_.run(quick, other));
        const bool is_served = needed.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
        const int at_once = entered;
        leave.release(20);

        EXPECT_TRUE(is_served);
        EXPECT_EQ(at_once, 7);
        EXPECT_TRUE(needed.get());
        for (std::future<Result<void>>& one : flood)
            EXPECT_TRUE(one.get());
    }
}

TEST_F(ManyConnectionsTest, WorkThatComesAloneStaysOnConnectionsThatAreWarm)
{
    std::set<std::string> backends;
    for (int i = 0; i < 40; ++i) {
        backends.insert(*query("SELECT pg_backend_pid()"));
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // the thread becomes idle
    }

    // In turn they would all be there; a slow machine may need another now and then.
    EXPECT_LT(backends.size(), 8U);
}

TEST_F(DatabaseTest, BlockingRunMayBeNestedInPooledWork)
{
    auto work = [this](pqxx::work&) -> Result<int> {
        const auto inner = [](pqxx::work& transaction) -> Result<int> {
            return transaction.exec("SELECT 7")[0][0].as<int>();
        };
        return database_.blocking_run(inner);
    };

    EXPECT_EQ(*io_.run(database_.run(work)), 7);
}

TEST_F(DatabaseTest, StopRefusesNewWork)
{
    database_.stop();

    EXPECT_EQ(query("SELECT 1").error().code, Errc::kUnavailable);
    EXPECT_EQ(database_.check().error().code, Errc::kUnavailable);
}

TEST(DatabaseAbsent, AnswersUnavailableSoonAndRecoversOnItsOwn)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url + " port=1", .connections = 2}, metrics);
    const auto start = std::chrono::steady_clock::now();

    const Result<void> outcome = database.check();

    EXPECT_EQ(outcome.error().code, Errc::kUnavailable);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "it waits for nothing";
    EXPECT_NE(outcome.error().detail.find("not available"), std::string::npos) << outcome.error().detail;
}

} // namespace
} // namespace fathom::server
