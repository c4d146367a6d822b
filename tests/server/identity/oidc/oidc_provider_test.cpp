#include "tests/server/identity/oidc_fixture.hpp"

namespace fathom::server {
namespace {

using test::run_sql;
using testing::HasSubstr;
using testing::Not;

class OidcProvider : public OidcFixture {};

TEST_F(OidcProvider, AsksForWhatTheTokenLeavesOut)
{
    provider_.claims = {{"sub", "u-1"}};
    provider_.user_info = {{"sub", "u-1"}, {"preferred_username", "ada"}, {"groups", {"hpc-admins"}}, {"iss", "x"}};
    EXPECT_EQ(sign_in_there().status, 200);
    EXPECT_EQ(get("/users/ada")["role"], "admin");

    provider_.user_info["sub"] = "u-2";
    expect_refused(sign_in_there(), 502, "wrong_answer");
}

TEST_F(OidcProvider, BelievesNoTokenThatIsForgedOldOrForAnother)
{
    const Json good = provider_.claims;
    for (const Json& change : {Json{{"nonce", "another"}}, Json{{"aud", "another"}},
                               Json{{"iss", "https://evil.example"}}, Json{{"exp", 1000}}, Json{{"sub", nullptr}}}) {
        provider_.claims = good;
        provider_.claims.update(change);
        expect_refused(sign_in_there(), 502, "wrong_answer");
    }
    provider_.claims = good;
    provider_.header = {{"alg", "none"}};
    expect_refused(sign_in_there(), 502, "wrong_answer");
    provider_.header = Json::object();
    const SigningKey another("key-1");
    provider_.shown = &another;
    Replica fresh(database_, notifier_, metrics_, clock_, compute_, provider_);
    const UnderWay sign_in = begin();
    OidcService::Callback callback{
        .state = sign_in.state(), .code = provider_.sign_in(sign_in.url), .error = {}, .issuer = {}};
    const auto finished = io_.run(
        fresh.oidc.finish({"192.0.2.1:1", "req_1"}, sign_in.cookie.substr(sign_in.cookie.find('=') + 1), callback));
    ASSERT_TRUE(std::holds_alternative<OidcRefusal>(finished));
    EXPECT_THAT(std::get<OidcRefusal>(finished).detail, HasSubstr("signature"));
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM user_account"), "0");
}

TEST_F(OidcProvider, NoticesAnAnswerOfAnotherProvider)
{
    const auto come_back_from = [&](const std::string& issuer) {
        const UnderWay sign_in = begin();
        return come_back(sign_in,
                         {{"state", sign_in.state()}, {"code", provider_.sign_in(sign_in.url)}, {"iss", issuer}})
            .status;
    };
    EXPECT_EQ(come_back_from("https://evil.example"), 502);
    EXPECT_EQ(come_back_from(FakeProvider::kIssuer), 200);
}

TEST_F(OidcProvider, TellsWhatIsWrongWithTheProvider)
{
    provider_.token_status = 401;
    expect_refused(sign_in_there(), 502, "wrong_answer");
    const Json act = get("/audit-log", {{"action", "session.refuse"}})["items"][0];
    EXPECT_THAT(act["detail"]["detail"].get<std::string>(), HasSubstr("401, invalid_client"));

    provider_.token_status = 503;
    expect_refused(sign_in_there(), 503, "provider_unreachable");

    const UnderWay sign_in = begin();
    const net::Response denied = come_back(
        sign_in, {{"state", sign_in.state()}, {"error", "access_denied<b>"}, {"error_description", "call me"}});
    expect_refused(denied, 403, "denied");
    EXPECT_THAT(denied.body, HasSubstr("(access_denied?b?)"));
    EXPECT_THAT(denied.body, Not(HasSubstr("call me")));
}

TEST_F(OidcProvider, TellsThatTheProviderIsAwayBeforeTheBrowserIsSentThere)
{
    provider_.failure = Error{Errc::kUnavailable, "cannot connect"};

    expect_refused(answer({.path = kStart}), 503, "provider_unreachable");
    EXPECT_EQ(answer({.path = kStart}).status, 503);
    EXPECT_EQ(provider_.asked.size(), 1U) << "it is left alone for a moment";
}

TEST_F(OidcProvider, LooksAtTheProvidersDescription)
{
    for (const Json& change : {Json{{"issuer", "https://id.example.org/realm/"}},
                               Json{{"token_endpoint", "http://id.example.org"}}, Json{{"jwks_uri", nullptr}}}) {
        FakeProvider wrong;
        wrong.description.update(change);
        Replica replica(database_, notifier_, metrics_, clock_, compute_, wrong);
        const auto begun = io_.run(replica.oidc.begin({"192.0.2.1:1", "req_1"}, "", "/"));
        ASSERT_TRUE(std::holds_alternative<OidcRefusal>(begun)) << change;
        EXPECT_EQ(std::get<OidcRefusal>(begun).why, OidcRefusal::Why::kWrongAnswer);
    }
}

/// The machine's clock, some time ahead.
class ClockAhead final : public Clock {
  public:
    Timestamp now() const override { return SystemClock().now() + ahead; }
    std::chrono::seconds ahead{};
};

TEST_F(OidcProvider, TakesANewKeyOfTheProviderAndAsksForItOnceAMinute)
{
    const SigningKey old("key-0");
    provider_.shown = &old;
    ClockAhead clock;
    Replica replica(database_, notifier_, metrics_, clock, compute_, provider_);
    const auto is_signed_in = [&] {
        const UnderWay sign_in = begin();
        OidcService::Callback callback{
            .state = sign_in.state(), .code = provider_.sign_in(sign_in.url), .error = {}, .issuer = {}};
        return std::holds_alternative<OidcService::Finished>(io_.run(replica.oidc.finish(
            {"192.0.2.1:1", "req_1"}, sign_in.cookie.substr(sign_in.cookie.find('=') + 1), callback)));
    };
    const auto asked = [&] {
        return std::count_if(provider_.asked.begin(), provider_.asked.end(),
                             [](const std::string& url) { return url.ends_with("/keys"); });
    };
    EXPECT_FALSE(is_signed_in());
    provider_.shown = &provider_.signing;
    EXPECT_FALSE(is_signed_in()) << "asked for a moment ago";
    EXPECT_EQ(asked(), 1);
    clock.ahead = std::chrono::seconds(61);
    EXPECT_TRUE(is_signed_in());
    EXPECT_TRUE(is_signed_in());
    EXPECT_EQ(asked(), 2);
}

TEST_F(OidcProvider, BeginsInOneNetworkABoundedNumberOfTimes)
{
    int refused = 0;
    for (int i = 0; i < 40; ++i)
        refused += answer({.path = kStart}).status == 429 ? 1 : 0;
    EXPECT_GE(refused, 5);
    EXPECT_EQ(answer({.path = kStart, .remote_address = "198.51.100.7:1"}).status, 302);
}

TEST_F(OidcProvider, HasABoundedNumberUnderWay)
{
    run_sql(url_, "INSERT INTO oidc_sign_in SELECT lpad(i::text, 64, '0'), repeat('0', 64), '', '', '/', "
                  "now() + make_interval(secs => i / 100.0) FROM generate_series(1, 6000) i");
    begin();
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM oidc_sign_in"), "5000");
}

} // namespace
} // namespace fathom::server
