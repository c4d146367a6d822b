#include "server/store/group_commit.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <atomic>
#include <latch>
#include <semaphore>

namespace fathom::server {
namespace {

using test::run_sql;

constexpr Statement kInsert{"test_insert_names", R"sql(
    INSERT INTO item (name) SELECT unnest($1::text[]) RETURNING id, name)sql"};

class GroupCommitTest : public testing::Test {
  protected:
    GroupCommitTest()
    {
        run_sql(url_, "CREATE TABLE item (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                      " name text NOT NULL CHECK (name <> 'bad'))");
    }

    /// Writes names; answers "name#transaction".
    Result<std::vector<std::string>> write(pqxx::work& transaction, std::vector<std::string>& names)
    {
        ++writes_;
        if (gate_) gate_->acquire();
        const std::string xid = transaction.exec1("SELECT pg_current_xact_id()::text")[0].as<std::string>();
        std::vector<std::string> answers;
        for (const pqxx::row& row : exec(transaction, kInsert, sql_array(names)))
            answers.push_back(row[1].as<std::string>() + "#" + xid);
        return answers;
    }

    GroupCommit<std::string, std::string> make_group(std::size_t max_batch = 512)
    {
        return {database_,
                io_.executor(),
                "test",
                metrics_,
                [this](pqxx::work& transaction, std::vector<std::string>& names) { return write(transaction, names); },
                max_batch};
    }

    const std::string url_ = test::empty_database();
    Metrics metrics_;
    Database database_{{.url = url_, .connections = 2}, metrics_};
    std::atomic<int> writes_{0};
    std::counting_semaphore<1000>* gate_ = nullptr;
    test::TestIo io_;
};

TEST_F(GroupCommitTest, WritesASingleItemAtOnce)
{
    auto group = make_group();

    const Result<std::string> answer = io_.run(group.add("alone"));

    ASSERT_TRUE(answer) << answer.error().detail;
    EXPECT_TRUE(answer->starts_with("alone#"));
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "1");
}

TEST_F(GroupCommitTest, GathersWhileABatchCommitsAndAnswersEachItsOwn)
{
    std::counting_semaphore<1000> gate(0);
    gate_ = &gate;
    auto group = make_group();
    std::vector<std::future<Result<std::string>>> answers;
    answers.push_back(io_.spawn(group.add("0")));
    ASSERT_TRUE(test::eventually([&] { return writes_ == 1; }));
    std::atomic<int> begun{0};
    const auto add = [&](int number) -> asio::awaitable<Result<std::string>> {
        auto pending = group.add(std::to_string(number));
        ++begun;
        co_return co_await std::move(pending);
    };
    for (int i = 1; i <= 50; ++i)
        answers.push_back(io_.spawn(add(i)));
    ASSERT_TRUE(test::eventually([&] { return begun == 50; }));
    std::latch both(2); // threads: when neither runs anything else, none is between begin and queue
    for (int i = 0; i < 2; ++i)
        asio::post(io_.context(), [&both] { both.arrive_and_wait(); });
    both.wait();

    gate.release(1000);

    std::vector<std::string> transactions;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Result<std::string> answer = io_.get(std::move(answers[i]));
        ASSERT_TRUE(answer) << answer.error().detail;
        EXPECT_TRUE(answer->starts_with(std::to_string(i) + "#")) << *answer;
        transactions.push_back(answer->substr(answer->find('#')));
    }
    std::sort(transactions.begin(), transactions.end());
    const auto distinct = std::unique(transactions.begin(), transactions.end()) - transactions.begin();
    EXPECT_EQ(distinct, 2) << "the first, and all that came meanwhile";
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "51");
}

TEST_F(GroupCommitTest, OneBadItemDoesNotTakeTheOthersDown)
{
    std::counting_semaphore<1000> gate(0);
    gate_ = &gate;
    auto group = make_group();
    auto blocker = io_.spawn(group.add("first"));
    ASSERT_TRUE(test::eventually([&] { return writes_ == 1; }));
    auto good = io_.spawn(group.add("good"));
    auto bad = io_.spawn(group.add("bad"));
    auto fine = io_.spawn(group.add("fine"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));

    gate.release(1000);

    EXPECT_TRUE(io_.get(std::move(blocker)));
    EXPECT_TRUE(io_.get(std::move(good)));
    EXPECT_EQ(io_.get(std::move(bad)).error().code, Errc::kInternal);
    EXPECT_TRUE(io_.get(std::move(fine)));
    EXPECT_EQ(run_sql(url_, "SELECT string_agg(name, ',' ORDER BY name) FROM item"), "fine,first,good");
}

TEST_F(GroupCommitTest, WritesBatchesOfOneStatementWithoutTheBadItem)
{
    std::counting_semaphore<1000> gate(0);
    auto write_names = [&](pqxx::transaction_base& transaction,
                           std::vector<std::string>& names) -> Result<std::vector<std::string>> {
        ++writes_;
        gate.acquire();
        std::vector<std::string> answers;
        for (const pqxx::row& row : exec(transaction, kInsert, sql_array(names)))
            answers.push_back(row[1].as<std::string>());
        return answers;
    };
    using Group = GroupCommit<std::string, std::string>;
    Group group(database_, io_.executor(), "test", metrics_, Group::OneStatement{write_names});
    auto first = io_.spawn(group.add("first"));
    ASSERT_TRUE(test::eventually([&] { return writes_ == 1; }));
    auto good = io_.spawn(group.add("good"));
    auto bad = io_.spawn(group.add("bad"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));

    gate.release(1000);

    EXPECT_EQ(*io_.get(std::move(first)), "first");
    EXPECT_EQ(*io_.get(std::move(good)), "good");
    EXPECT_EQ(io_.get(std::move(bad)).error().code, Errc::kInternal);
    EXPECT_EQ(run_sql(url_, "SELECT string_agg(name, ',' ORDER BY name) FROM item"), "first,good");
}

TEST_F(GroupCommitTest, BatchesKeepToTheirLimit)
{
    auto group = make_group(10);
    std::vector<std::future<Result<std::string>>> answers;
    for (int i = 0; i < 100; ++i)
        answers.push_back(io_.spawn(group.add("x")));

    for (auto& answer : answers)
        EXPECT_TRUE(io_.get(std::move(answer)));

    EXPECT_GE(writes_, 10);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), "100");
}

TEST_F(GroupCommitTest, RefusesWhenTooManyWait)
{
    std::counting_semaphore<1000> gate(0);
    gate_ = &gate;
    auto group = make_group(1); // 16 may wait
    std::vector<std::future<Result<std::string>>> answers;
    std::atomic<int> refused_at_once{0};
    const auto add = [&]() -> asio::awaitable<Result<std::string>> {
        Result<std::string> answer = co_await group.add("x");
        if (!answer) ++refused_at_once;
        co_return answer;
    };
    for (int i = 0; i < 40; ++i)
        answers.push_back(io_.spawn(add()));
    // One is written, which the gate holds up.
    ASSERT_TRUE(test::eventually([&] { return refused_at_once >= 20; }));

    gate.release(1000);

    int refused = 0;
    for (auto& future : answers) {
        const Result<std::string> answer = io_.get(std::move(future));
        if (!answer && answer.error().code == Errc::kTooMany) ++refused;
    }
    EXPECT_GE(refused, 20);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM item"), std::to_string(40 - refused));
}

TEST_F(GroupCommitTest, TellsEveryoneWhenTheDatabaseIsGone)
{
    Metrics metrics;
    Database absent({.url = url_ + " port=1", .connections = 1}, metrics);
    GroupCommit<std::string, std::string> group(
        absent, io_.executor(), "absent", metrics,
        [](pqxx::work&, std::vector<std::string>& names) -> Result<std::vector<std::string>> { return names; });

    auto one = io_.spawn(group.add("a"));
    auto two = io_.spawn(group.add("b"));

    EXPECT_EQ(io_.get(std::move(one)).error().code, Errc::kUnavailable);
    EXPECT_EQ(io_.get(std::move(two)).error().code, Errc::kUnavailable);
}

/// An answer whose copy fails when it says so.
struct FragileAnswer {
    std::string text;

    FragileAnswer() = default;
    explicit FragileAnswer(std::string t) : text(std::move(t)) {}
    FragileAnswer(const FragileAnswer& other) : text(other.text)
    {
        if (text == "fragile") throw std::runtime_error("a defect");
    }
    FragileAnswer(FragileAnswer&&) = default;
    FragileAnswer& operator=(const FragileAnswer&) = default;
    FragileAnswer& operator=(FragileAnswer&&) = default;
    ~FragileAnswer() = default;
};

TEST_F(GroupCommitTest, ADefectLeavesNobodyOfTheBatchWithoutAnAnswer)
{
    GroupCommit<std::string, FragileAnswer> group(
        database_, io_.executor(), "fragile", metrics_,
        [](pqxx::work&, std::vector<std::string>& items) -> Result<std::vector<FragileAnswer>> {
            std::vector<FragileAnswer> answers;
            for (const std::string& item : items)
                answers.emplace_back(item);
            return answers;
        });

    const Result<FragileAnswer> failed = io_.run(group.add("fragile"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::kInternal);
    EXPECT_TRUE(io_.run(group.add("valid"))) << "the group works on";
}

} // namespace
} // namespace fathom::server
