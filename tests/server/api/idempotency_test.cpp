#include "server/api/idempotency.hpp"
#include "tests/server/identity/api_fixture.hpp"

#include <pqxx/pqxx>

#include <atomic>

namespace fathom::server {
namespace {

using net::Method;
using test::run_sql;

class IdempotencyTest : public ApiFixture {
  protected:
    IdempotencyTest()
    {
        run_sql(url_, "CREATE TABLE effect (name text)");
        api_.add(Method::kPost, "/effects", Permission::kReadNetwork,
                 idempotent(database_, [this](Call call) { return make_effect(std::move(call)); }));
    }

    asio::awaitable<net::Response> make_effect(Call call)
    {
        ++runs_;
        if (call.request.body == "refuse") co_return net::problem(Error{Errc::kInvalid, "no"}, "");
        if (call.request.body == "throw") throw std::runtime_error("a defect");
        auto work = [](pqxx::work& transaction) -> Result<void> {
            transaction.exec("INSERT INTO effect VALUES ('x'); SELECT pg_sleep(0.05)");
            return {};
        };
        const Result<void> done = co_await database_.run(work);
        if (!done) co_return net::problem(done.error(), "");
        net::Response response = json_response(201, {{"run", runs_.load()}});
        response.headers["Location"] = "/api/v1/effects/1";
        co_return response;
    }

    Ask post(const std::string& key, const std::string& body = "{}")
    {
        Ask ask{.method = Method::kPost, .path = "/api/v1/effects", .token = token_, .body = body};
        if (!key.empty()) ask.headers["Idempotency-Key"] = key;
        return ask;
    }

    std::atomic<int> runs_{0};
    std::string token_ = make_token(Role::kUser);
};

TEST_F(IdempotencyTest, ARepeatGetsTheStoredAnswer)
{
    const net::Response first = answer(post("key-1"));
    const net::Response second = answer(post("key-1"));

    EXPECT_EQ(first.status, 201);
    EXPECT_FALSE(first.headers.contains("Idempotent-Replayed"));
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(second.headers.at("Idempotent-Replayed"), "true");
    EXPECT_EQ(second.headers.at("Location"), "/api/v1/effects/1");
    EXPECT_EQ(runs_, 1);
}

TEST_F(IdempotencyTest, WithoutAKeyEachRequestRuns)
{
    answer(post(""));
    answer(post(""));

    EXPECT_EQ(runs_, 2);
}

TEST_F(IdempotencyTest, TheSameKeyWithAnotherBodyIsAConflict)
{
    answer(post("key-1"));

    EXPECT_EQ(answer(post("key-1", "{\"other\": 1}")).status, 409);
    EXPECT_EQ(runs_, 1);
}

TEST_F(IdempotencyTest, KeysOfDifferentTokensAreDifferent)
{
    answer(post("key-1"));
    token_ = make_token(Role::kUser, "someone else");

    EXPECT_FALSE(answer(post("key-1")).headers.contains("Idempotent-Replayed"));
    EXPECT_EQ(runs_, 2);
}

TEST_F(IdempotencyTest, ConcurrentDuplicatesRunOnce)
{
    std::vector<std::future<net::Response>> pending;
    for (int i = 0; i < 12; ++i)
        pending.push_back(send(post("race")));
    int created = 0;
    for (auto& one : pending) {
        const net::Response response = test::TestIo::get(std::move(one));
        EXPECT_TRUE(response.status == 201 || response.status == 409) << response.status;
        created += response.status == 201 ? 1 : 0;
    }

    EXPECT_EQ(runs_, 1);
    EXPECT_GE(created, 1);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM effect"), "1");
}

TEST_F(IdempotencyTest, ARefusedOrFailedRequestGivesTheKeyBack)
{
    EXPECT_EQ(answer(post("key-1", "refuse")).status, 400);
    EXPECT_THROW(answer(post("key-2", "throw")), std::runtime_error);

    EXPECT_EQ(answer(post("key-1")).status, 201);
    EXPECT_EQ(answer(post("key-2")).status, 201);
}

TEST_F(IdempotencyTest, AClaimThatAKilledReplicaLeftIsTakenOverAfterAMinute)
{
    run_sql(url_, "INSERT INTO idempotency_key (token_id, key, request_sha256) SELECT id, 'left', 'x' FROM api_token");

    EXPECT_EQ(answer(post("left")).status, 409);
    run_sql(url_, "UPDATE idempotency_key SET created_at = now() - interval '2 minutes'");

    EXPECT_EQ(answer(post("left")).status, 201);
    EXPECT_EQ(answer(post("left")).headers.at("Idempotent-Replayed"), "true");
}

TEST_F(IdempotencyTest, RefusesUnfitKeys)
{
    EXPECT_EQ(answer(post(std::string(256, 'k'))).status, 400);
    EXPECT_EQ(answer(post("tab\there")).status, 400);
    EXPECT_EQ(runs_, 0);
}

TEST_F(IdempotencyTest, SecretsAreNotStored)
{
    const std::string admin = make_token(Role::kAdmin);
    Ask ask{.method = Method::kPost,
            .path = "/api/v1/tokens",
            .token = admin,
            .body = R"({"name": "ci", "role": "user"})",
            .headers = {{"Idempotency-Key", "make"}}};

    const Json first = json_of(answer(ask));
    const Json second = json_of(answer(ask));

    EXPECT_TRUE(first["token"].is_string());
    EXPECT_TRUE(second["token"].is_null());
    EXPECT_EQ(first["id"], second["id"]);
}

TEST_F(IdempotencyTest, InOneTransactionTheSecondWaitsAndThenReplays)
{
    const IdempotencyKey key{"tok_x", "exact", "hash"};
    std::atomic<int> effects{0};
    auto work = [&](pqxx::work& transaction) -> Result<std::string> {
        const Result<std::optional<StoredAnswer>> earlier = claim_key(transaction, key);
        if (!earlier) return earlier.error();
        if (*earlier) return (*earlier)->body;
        const std::string body = "effect " + std::to_string(++effects);
        transaction.exec("SELECT pg_sleep(0.05)");
        store_answer(transaction, key, {201, body, "", {}});
        return body;
    };

    std::vector<std::future<Result<std::string>>> pending;
    for (int i = 0; i < 4; ++i)
        pending.push_back(io_.spawn(database_.run(work)));

    for (auto& one : pending) {
        const Result<std::string> body = test::TestIo::get(std::move(one));
        ASSERT_TRUE(body) << body.error().detail;
        EXPECT_EQ(*body, "effect 1");
    }
}

TEST_F(IdempotencyTest, OldKeysAreRemoved)
{
    answer(post("old"));
    answer(post("new"));
    run_sql(url_, "UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'");

    ASSERT_TRUE(io_.run(database_.run(old_key_removal())));

    EXPECT_EQ(run_sql(url_, "SELECT string_agg(key, ',') FROM idempotency_key"), "new");
}

TEST_F(IdempotencyTest, ManyOldKeysAreRemovedInOneTurn)
{
    run_sql(url_, "INSERT INTO idempotency_key (token_id, key, request_sha256, created_at)"
                  " SELECT t.id, 'old ' || n, 'x', now() - interval '25 hours'"
                  " FROM api_token t, generate_series(1, 20000) n");

    ASSERT_TRUE(io_.run(database_.run(old_key_removal())));

    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM idempotency_key"), "0");
}

} // namespace
} // namespace fathom::server
