#include "server/api/idempotency.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

#include <future>
#include <set>

namespace fathom::server {
namespace {

/// Single jobs under Idempotency-Keys, as `fathom job submit` sends them.
class KeyedSubmission : public JobsFixture {
  protected:
    using FirstAnswer = Result<std::optional<JobRecord>>;

    KeyedSubmission() { add_center("alpha"); }

    net::Response post(const std::string& key, const std::string& body = R"({"command": ["true"]})")
    {
        return call(net::Method::kPost, "/jobs", body, {{"Idempotency-Key", key}});
    }
    IdempotencyKey key_of(const std::string& key) const { return {admin_.token_id.value, key, "digest of " + key}; }
    std::future<FirstAnswer> submit(const std::string& key)
    {
        const AdmittedJob job{parse_job_spec(spec()).value(), "app/true", {}};
        return io_.spawn(jobs_.submit_first(key_of(key), job, admin_.token_id.value));
    }
    double count_of(const std::string& metric)
    {
        const std::string text = metrics_.expose();
        const std::size_t at = text.find("\n" + metric + "{group=\"submissions\"} ");
        return at == std::string::npos ? 0 : std::stod(text.substr(text.find(' ', at + metric.size() + 1)));
    }
};

TEST_F(KeyedSubmission, JobsOfManyKeysAreWrittenTogether)
{
    std::vector<std::future<FirstAnswer>> answers;
    for (int i = 0; i < 200; ++i)
        answers.push_back(submit("key-" + std::to_string(i)));

    std::set<std::string> ids;
    for (auto& answer : answers) {
        const FirstAnswer first = test::TestIo::get(std::move(answer));
        ASSERT_TRUE(first && *first);
        ids.insert((*first)->id.value);
    }

    EXPECT_EQ(ids.size(), 200U);
    EXPECT_EQ(sql("SELECT count(*) FROM job j JOIN idempotency_key k ON k.response_jobs = ARRAY[j.id]"), "200");
    EXPECT_EQ(count_of("fathom_group_commit_items_total"), 200);
    EXPECT_LT(count_of("fathom_group_commit_batches_total"), 100) << "each had a transaction of its own";
    EXPECT_EQ(count_of("fathom_group_commit_singles_total"), 0);
}

TEST_F(KeyedSubmission, OneKeyMakesOneJobHoweverManySendItAtOnce)
{
    std::vector<std::future<FirstAnswer>> answers;
    for (int i = 0; i < 60; ++i)
        answers.push_back(submit("key-" + std::to_string(i % 3)));

    int made = 0;
    for (auto& answer : answers) {
        const FirstAnswer first = test::TestIo::get(std::move(answer));
        ASSERT_TRUE(first);
        made += *first ? 1 : 0;
    }

    EXPECT_EQ(made, 3);
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "3");
    EXPECT_EQ(sql("SELECT count(*) FROM job_event"), "3");
    EXPECT_EQ(sql("SELECT count(*) FROM idempotency_key WHERE response_status = 201"), "3");
}

TEST_F(KeyedSubmission, TheFirstAnswerIsThatOfAJobAndARepeatGetsTheSame)
{
    const net::Response first = post("k");
    const net::Response again = post("k");

    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.headers.at("ETag"), "\"1\"");
    EXPECT_FALSE(first.headers.contains("Idempotent-Replayed"));
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.headers.at("Location"), first.headers.at("Location"));
    EXPECT_EQ(again.headers.at("Idempotent-Replayed"), "true");
    EXPECT_EQ(post("k", R"({"command": ["false"]})").status, 409);
}

TEST_F(KeyedSubmission, AJobWithoutAKeyIsNoRepeatOfOneThatHasNone)
{
    const AdmittedJob job{parse_job_spec(spec()).value(), "app/true", {}};

    EXPECT_TRUE(run(jobs_.submit(job, admin_.token_id.value)));
    EXPECT_TRUE(run(jobs_.submit(job, admin_.token_id.value)));

    EXPECT_EQ(sql("SELECT count(*) FROM job"), "2");
    EXPECT_EQ(sql("SELECT count(*) FROM idempotency_key"), "0");
}

TEST_F(KeyedSubmission, AnotherTokensKeyIsAnotherKey)
{
    add_token("ada", Role::kUser);

    const net::Response one = post("k");
    const net::Response other =
        call(net::Method::kPost, "/jobs", R"({"command": ["true"]})", {{"Idempotency-Key", "k"}}, "ada");

    EXPECT_EQ(one.status, 201) << one.body;
    EXPECT_EQ(other.status, 201) << other.body;
    EXPECT_FALSE(other.headers.contains("Idempotent-Replayed"));
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "2");
}

TEST_F(KeyedSubmission, AKeyThatAKilledReplicaLeftIsTakenOverAfterAMinute)
{
    sql("INSERT INTO idempotency_key (token_id, key, request_sha256) VALUES ('" + admin_.token_id.value +
        "', 'left', 'x')");
    EXPECT_EQ(post("left").status, 409);
    sql("UPDATE idempotency_key SET created_at = now() - interval '2 minutes'");

    EXPECT_EQ(post("left").status, 201);
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "1");
}

TEST_F(KeyedSubmission, NobodyElseWaitsForATransactionThatHasTakenAKey)
{
    pqxx::connection other(url_);
    pqxx::work taking(other);
    ASSERT_TRUE(claim_key(taking, key_of("held"))); // as another replica does that stands still before it commits
    std::vector<std::future<FirstAnswer>> others;
    std::future<FirstAnswer> held = submit("held");
    for (int i = 0; i < 20; ++i)
        others.push_back(submit("key-" + std::to_string(i)));

    for (auto& answer : others) {
        const FirstAnswer first = test::TestIo::get(std::move(answer));
        ASSERT_TRUE(first && *first);
    }
    const FirstAnswer left = test::TestIo::get(std::move(held));
    ASSERT_TRUE(left);
    EXPECT_FALSE(*left) << "its key is left to submit_once(), which waits alone";
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "20");

    std::future<net::Response> waiting = std::async(std::launch::async, [this] { return post("held"); });
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    taking.abort();
    EXPECT_EQ(waiting.get().status, 201) << "the other one gave the key back";
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "21");
}

/// As a replica of an earlier version takes keys.
TEST_F(KeyedSubmission, WaitsForTheOutcomeOfATransactionThatHasTakenItsKeyWithoutTheLock)
{
    pqxx::connection other(url_);
    pqxx::work taking(other);
    taking.exec("INSERT INTO idempotency_key (token_id, key, request_sha256) VALUES ('" + admin_.token_id.value +
                "', 'held', 'x')");
    std::future<FirstAnswer> waiting = submit("held");
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);

    taking.abort();

    const FirstAnswer first = test::TestIo::get(std::move(waiting));
    ASSERT_TRUE(first);
    EXPECT_TRUE(*first) << "the other one gave the key back";
}

} // namespace
} // namespace fathom::server
