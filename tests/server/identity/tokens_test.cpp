#include "core/base/secret.hpp"
#include "core/net/task_group.hpp"
#include "tests/server/identity/tokens_fixture.hpp"

#include <memory>
#include <vector>

namespace fathom::server {
namespace {

using net::Method;
using test::eventually;
using test::run_sql;

TEST_F(TokensTest, RefuseMissingMalformedAndUnknownCredentials)
{
    const net::Response missing = answer({.path = "/api/v1/tokens"});
    const net::Response basic = answer({.path = "/api/v1/tokens", .headers = {{"Authorization", "Basic eDp5"}}});

    EXPECT_EQ(missing.status, 401);
    EXPECT_EQ(missing.headers.at("WWW-Authenticate"), "Bearer realm=\"fathom\"");
    EXPECT_EQ(json_of(missing)["code"], "unauthenticated");
    EXPECT_EQ(basic.status, 401);
    EXPECT_NE(basic.headers.at("WWW-Authenticate").find("invalid_token"), std::string::npos);
    EXPECT_EQ(status_with("fth_short"), 401);
    EXPECT_EQ(status_with(new_secret("fth_")), 401);
    EXPECT_EQ(status_with(new_secret("fen_")), 401) << "an enrolment token is no API token";
}

TEST_F(TokensTest, RefuseRolesWithoutThePermission)
{
    for (const Role role :
         {Role::kViewer, Role::kUser, Role::kExpert, Role::kOperator, Role::kBilling, Role::kAuditor}) {
        const net::Response response = answer({.path = "/api/v1/tokens", .token = make_token(role)});
        EXPECT_EQ(response.status, 403);
        EXPECT_EQ(json_of(response)["code"], "forbidden");
    }
    EXPECT_EQ(status_with(admin_), 200);
}

TEST_F(TokensTest, AreGoodForNoLongerThanTheSettingSays)
{
    Notifier notifier(url_);
    IdentityService strict(database_, notifier, clock_, metrics_, std::chrono::hours(24));
    const Principal admin{TokenId{"tok_test"}, "test", Role::kAdmin};
    const auto make = [&](std::optional<std::int64_t> valid_s) {
        return io_.run(strict.create_token(admin, {.name = "ci", .role = Role::kUser, .valid_s = valid_s}, "req_test"));
    };

    EXPECT_EQ(make(24 * 3600 + 1).error().fields.at(0).field, "valid_s");
    EXPECT_TRUE(make(24 * 3600));
    EXPECT_TRUE(make(std::nullopt).value().row.expires_at.has_value()) << "what is not asked is the longest";
    EXPECT_FALSE(make_token_row(Role::kUser).row.expires_at.has_value()) << "without the setting: never";
}

TEST_F(TokensTest, ShowTheSecretOnceAndKeepOnlyItsHash)
{
    const net::Response created = answer({.method = Method::kPost,
                                          .path = "/api/v1/tokens",
                                          .token = admin_,
                                          .body = R"({"name": "ci", "role": "expert", "valid_s": 3600})"});

    ASSERT_EQ(created.status, 201) << created.body;
    const Json body = json_of(created);
    const auto secret = body["token"].get<std::string>();
    EXPECT_EQ(body["role"], "expert");
    EXPECT_FALSE(body["expires_at"].is_null());
    EXPECT_EQ(created.headers.at("Cache-Control"), "no-store");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM api_token t WHERE t::text LIKE '%" + secret + "%'"), "0");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM audit_log a WHERE a::text LIKE '%" + secret + "%'"), "0");
    EXPECT_EQ(run_sql(url_, "SELECT subject FROM audit_log WHERE action = 'token.create' ORDER BY id DESC LIMIT 1"),
              body["id"].get<std::string>());
    EXPECT_EQ(status_with(secret), 403) << "it works, as an expert";
}

TEST_F(TokensTest, ReportEveryWrongField)
{
    const net::Response response = answer({.method = Method::kPost,
                                           .path = "/api/v1/tokens",
                                           .token = admin_,
                                           .body = R"({"role": "boss", "valid_s": 0, "extra": 1})"});

    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(json_of(response)["errors"].size(), 4U) << response.body; // name, role, valid_s, extra
}

TEST_F(TokensTest, RefuseTextWithNul)
{
    const net::Response response = answer({.method = Method::kPost,
                                           .path = "/api/v1/tokens",
                                           .token = admin_,
                                           .body = R"({"name": "a\u0000b", "role": "user"})"});

    EXPECT_EQ(response.status, 400);
}

TEST_F(TokensTest, AreListedNewestFirstInPages)
{
    for (int i = 0; i < 4; ++i)
        make_token(Role::kUser, "n" + std::to_string(i));

    const Json first = json_of(answer({.path = "/api/v1/tokens", .token = admin_, .query = {{"page_size", "3"}}}));
    const auto next = first["next_page_token"].get<std::string>();
    const Json second = json_of(
        answer({.path = "/api/v1/tokens", .token = admin_, .query = {{"page_size", "3"}, {"page_token", next}}}));

    ASSERT_EQ(first["items"].size(), 3U);
    EXPECT_EQ(first["items"][0]["name"], "n3");
    EXPECT_EQ(second["items"].size(), 2U); // n0 and the admin
    EXPECT_EQ(second["items"][0]["name"], "n0");
    EXPECT_TRUE(second["next_page_token"].is_null());
    EXPECT_FALSE(first["items"][0].contains("token"));
}

TEST_F(TokensTest, StopWorkingHereAtOnceWhenRevoked)
{
    const auto created = make_token_row(Role::kAdmin, "second");
    ASSERT_EQ(status_with(created.secret), 200);

    const net::Response gone =
        answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + created.row.id, .token = admin_});
    const net::Response again =
        answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + created.row.id, .token = admin_});

    EXPECT_EQ(gone.status, 204);
    EXPECT_EQ(again.status, 204);
    EXPECT_EQ(status_with(created.secret), 401);
    EXPECT_EQ(answer({.method = Method::kDelete, .path = "/api/v1/tokens/tok_none", .token = admin_}).status, 404);
}

TEST_F(TokensTest, StopWorkingOnOtherReplicasThroughTheWakeUp)
{
    Notifier other_notifier(url_);
    IdentityService other(database_, other_notifier, clock_, metrics_);
    other_notifier.start();
    const auto created = make_token_row(Role::kUser);
    const std::string header = "Bearer " + created.secret;
    ASSERT_TRUE(io_.run(other.authenticate(credential_of(header, ""), "192.0.2.9:1")));

    ASSERT_EQ(answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + created.row.id, .token = admin_}).status,
              204);

    EXPECT_TRUE(eventually([&] { return !io_.run(other.authenticate(credential_of(header, ""), "192.0.2.9:1")); }));
}

/// Waits as it is told, and forgets what is written.
class PatientWriter final : public net::BodyWriter {
  public:
    asio::awaitable<Result<void>> write(std::string) override { co_return Result<void>(); }
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override
    {
        co_await net::TaskGroup::sleep(duration);
        co_return Result<void>();
    }
};

asio::awaitable<bool> read_stream(net::Response response)
{
    co_await response.stream(std::make_shared<PatientWriter>());
    co_return true;
}

TEST_F(TokensTest, StreamsAreCutOffWhenTheirTokenIsRevoked)
{
    ApiRouter api(router_, identity_, std::chrono::milliseconds(50));
    api.add(net::Method::kGet, "/endless", Permission::kReadJobs, [](Call) -> asio::awaitable<net::Response> {
        net::Response response;
        response.stream = [](std::shared_ptr<net::BodyWriter> writer) -> asio::awaitable<void> {
            for (Result<void> alive; alive; alive = co_await writer->sleep(std::chrono::hours(1))) {
            }
        };
        co_return response;
    });
    const auto created = make_token_row(Role::kUser);
    auto reader = io_.spawn(read_stream(answer({.path = "/api/v1/endless", .token = created.secret})));
    ASSERT_EQ(reader.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);

    answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + created.row.id, .token = admin_});

    ASSERT_EQ(reader.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_THROW(reader.get(), std::runtime_error) << "cut off: what was sent is not all";
}

TEST_F(TokensTest, HaveARequestRateEach)
{
    const auto rate = std::make_shared<TokenRate>(3, 0.001);
    ApiRouter api(router_, identity_, std::chrono::seconds(10), {.rate = rate});
    api.add(net::Method::kPost, "/hello", Permission::kReadJobs,
            [](Call) -> asio::awaitable<net::Response> { co_return json_response(200, Json::object()); });
    const std::string busy = make_token(Role::kUser, "busy");
    const std::string other = make_token(Role::kUser, "other");
    const auto ask = [&](const std::string& token) {
        return answer({.method = Method::kPost, .path = "/api/v1/hello", .token = token});
    };
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(ask(busy).status, 200);

    const net::Response refused = ask(busy);

    EXPECT_EQ(refused.status, 429);
    EXPECT_GT(std::stoi(refused.headers.at("Retry-After")), 900);
    EXPECT_NE(json_of(refused)["detail"].get<std::string>().find("requests a second"), std::string::npos);
    EXPECT_EQ(ask(other).status, 200) << "from the same address";
    EXPECT_EQ(answer({.path = "/api/v1/tokens", .token = admin_}).status, 200);
}

TEST_F(TokensTest, AnswersSayWhoReadsThem)
{
    ApiRouter api(router_, identity_);
    api.add_open(Method::kGet, "/open",
                 [](net::Request) -> asio::awaitable<net::Response> { co_return json_response(200, Json::object()); });
    const auto admin = make_token_row(Role::kAdmin);

    EXPECT_EQ(answer({.path = "/api/v1/tokens", .token = admin.secret}).reader, admin.row.id);
    EXPECT_EQ(answer({.path = "/api/v1/open"}).reader, "") << "a stranger";
}

TEST_F(TokensTest, ABodyOfATokenThatIsSlowedDownIsNotWaitedFor)
{
    const auto rate = std::make_shared<TokenRate>(1, 0.001);
    ApiRouter api(router_, identity_, std::chrono::seconds(10), {.rate = rate});
    api.add(net::Method::kPost, "/hello", Permission::kReadJobs,
            [](Call) -> asio::awaitable<net::Response> { co_return json_response(200, Json::object()); });
    const std::string token = make_token(Role::kUser);
    net::Request request;
    request.method = Method::kPost;
    request.path = request.target = "/api/v1/hello";
    request.headers["Authorization"] = "Bearer " + token;
    auto match = router_.match(Method::kPost, "/api/v1/hello", false);
    const net::Guard guard = std::get<net::Router::Http>(match).body->guard;

    EXPECT_FALSE(io_.run(guard(request)));
    EXPECT_EQ(answer({.method = Method::kPost, .path = "/api/v1/hello", .token = token}).status, 200);
    const std::optional<net::Response> refused = io_.run(guard(request));

    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
}

TEST_F(TokensTest, TheLastAdminTokenCannotBeRevoked)
{
    const Json list = json_of(answer({.path = "/api/v1/tokens", .token = admin_}));
    const auto id = list["items"][0]["id"].get<std::string>();

    const net::Response response = answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + id, .token = admin_});

    EXPECT_EQ(response.status, 409);
    EXPECT_EQ(status_with(admin_), 200);
}

TEST_F(TokensTest, ExpireOnTime)
{
    const std::string secret = make_token(Role::kAdmin);
    run_sql(url_, "UPDATE api_token SET expires_at = now() - interval '1 second' WHERE secret_sha256 = '" +
                      sha256_hex(secret) + "'");

    EXPECT_EQ(status_with(secret), 401);
}

TEST_F(TokensTest, GuessersAreSlowedDownButOthersAreNot)
{
    const std::string guesser = "198.51.100.7:1000";
    ASSERT_EQ(status_with(admin_, guesser), 200);
    int limited = 0;
    for (int i = 0; i < 90; ++i)
        limited += status_with(new_secret("fth_"), guesser) == 429 ? 1 : 0;

    EXPECT_GT(limited, 10);
    EXPECT_EQ(status_with(new_secret("fth_"), "198.51.100.8:1000"), 401);
    EXPECT_EQ(status_with(admin_, guesser), 200) << "a token that was good before is no guess";
}

} // namespace
} // namespace fathom::server
