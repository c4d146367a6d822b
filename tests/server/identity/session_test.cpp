#include "core/base/secret.hpp"
#include "server/identity/session_store.hpp"
#include "tests/server/identity/session_fixture.hpp"

namespace fathom::server {
namespace {

using net::Method;
using test::run_sql;

class Sessions : public SessionFixture {};

TEST_F(Sessions, OpenByAPasswordAndSayWhoIsSignedIn)
{
    make_account("ada", "expert");

    const net::Response opened = post("/session", {{"name", "ada"}, {"password", kPassword}});

    ASSERT_EQ(opened.status, 200) << opened.body;
    const std::string cookie = opened.headers.at("Set-Cookie");
    EXPECT_TRUE(cookie.starts_with("__Host-fathom=fts_")) << cookie;
    for (const char* part : {"; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict", "; Max-Age=43200"})
        EXPECT_NE(cookie.find(part), std::string::npos) << part;
    EXPECT_EQ(opened.headers.at("Cache-Control"), "no-store");
    const Json who = json_of(opened);
    EXPECT_EQ(who["name"], "ada");
    EXPECT_EQ(who["account"], "ada");
    EXPECT_EQ(who["role"], "expert");
    EXPECT_NE(std::ranges::find(who["permissions"], Json("manage_metering")), who["permissions"].end());
    EXPECT_EQ(std::ranges::find(who["permissions"], Json("manage_tokens")), who["permissions"].end());
    const Browser browser{cookie.substr(0, cookie.find(';')), who["csrf_token"]};
    EXPECT_EQ(json_of(ask(browser, Method::kGet, "/session")), who);
}

TEST_F(Sessions, OpenByATokenAndHaveItsRights)
{
    const std::string token = make_token(Role::kViewer, "wall");

    const Browser browser = sign_in({{"token", token}});

    const Json who = json_of(ask(browser, Method::kGet, "/session"));
    EXPECT_EQ(who["name"], "wall");
    EXPECT_EQ(who["account"], nullptr);
    EXPECT_EQ(ask(browser, Method::kGet, "/tokens").status, 403);
    EXPECT_EQ(post("/session", {{"token", new_secret("fth_")}}).status, 401);
    EXPECT_EQ(post("/session", {{"token", "nonsense"}}).status, 401);
}

TEST_F(Sessions, ChangeNothingWithoutTheHeaderThatOtherSitesCannotKnow)
{
    const Browser browser = sign_in({{"token", admin_}});
    const Json body{{"name", "x"}, {"role", "viewer"}};

    const net::Response without = answer({.method = Method::kPost,
                                          .path = "/api/v1/tokens",
                                          .body = body.dump(),
                                          .headers = {{"Cookie", browser.cookie}}});
    const net::Response wrong = ask({browser.cookie, std::string(64, '0')}, Method::kPost, "/tokens", body);

    EXPECT_EQ(without.status, 403);
    EXPECT_NE(json_of(without)["detail"].get<std::string>().find("X-CSRF-Token"), std::string::npos);
    EXPECT_EQ(wrong.status, 403);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM api_token WHERE name = 'x'"), "0");
    EXPECT_EQ(ask(browser, Method::kPost, "/tokens", body).status, 201);
}

TEST_F(Sessions, AreNotOpenedByAnotherSitesPage)
{
    const Json body{{"token", admin_}};
    const net::Response response = answer({.method = Method::kPost,
                                           .path = "/api/v1/session",
                                           .body = body.dump(),
                                           .headers = {{"Sec-Fetch-Site", "cross-site"}}});

    EXPECT_EQ(response.status, 403);
    EXPECT_FALSE(response.headers.contains("Set-Cookie"));
}

TEST_F(Sessions, KeepOnlyTheHashOfTheirSecret)
{
    const Browser browser = sign_in({{"token", admin_}});
    const std::string secret = browser.cookie.substr(browser.cookie.find('=') + 1);

    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM web_session s WHERE s::text LIKE '%" + secret + "%'"), "0");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM audit_log a WHERE a::text LIKE '%" + secret + "%'"), "0");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM web_session WHERE secret_sha256 = '" + sha256_hex(secret) + "'"),
              "1");
}

TEST_F(Sessions, EndBySigningOut)
{
    const Browser browser = sign_in({{"token", admin_}});

    const net::Response response = ask(browser, Method::kDelete, "/session");

    EXPECT_EQ(response.status, 204);
    EXPECT_NE(response.headers.at("Set-Cookie").find("Max-Age=0"), std::string::npos);
    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
    EXPECT_EQ(answer({.method = Method::kDelete, .path = "/api/v1/session", .token = admin_}).status, 400)
        << "a token itself is no session";
}

TEST_F(Sessions, EndWithWhatTheyWereOpenedBy)
{
    IdentityService::CreatedToken token = make_token_row(Role::kViewer);
    const Browser by_token = sign_in({{"token", token.secret}});
    make_account("ada", "user");
    const Browser by_password = sign_in({{"name", "ada"}, {"password", kPassword}});
    ASSERT_EQ(ask(by_token, Method::kGet, "/session").status, 200);
    ASSERT_EQ(ask(by_password, Method::kGet, "/session").status, 200);

    answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + token.row.id, .token = admin_});
    answer({.method = Method::kPatch, .path = "/api/v1/users/ada", .token = admin_, .body = R"({"disabled": true})"});

    EXPECT_EQ(ask(by_token, Method::kGet, "/session").status, 401);
    EXPECT_EQ(ask(by_password, Method::kGet, "/session").status, 401);
}

TEST_F(Sessions, EndWhenTheirTimeIsOver)
{
    const Browser browser = sign_in({{"token", admin_}});
    run_sql(url_, "UPDATE web_session SET expires_at = now() - interval '1 second'");
    identity_.forget_known();

    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);

    const auto remove = [](pqxx::work& transaction) { return remove_expired_web_sessions(transaction); };
    ASSERT_TRUE(io_.run(database_.run(remove)));
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM web_session"), "0");
}

TEST_F(Sessions, OfOneTokenAreTwentyAndTheOldestEnds)
{
    const Browser first = sign_in({{"token", admin_}});
    for (int i = 0; i < 20; ++i)
        sign_in({{"token", admin_}});
    identity_.forget_known();

    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM web_session"), "20");
    EXPECT_EQ(ask(first, Method::kGet, "/session").status, 401);
}

TEST_F(Sessions, AnswerAWrongNameAsAWrongPassword)
{
    make_account("ada", "user");

    const net::Response wrong_password = post("/session", {{"name", "ada"}, {"password", "something else"}});
    const net::Response wrong_name = post("/session", {{"name", "eve"}, {"password", "something else"}});

    EXPECT_EQ(wrong_password.status, 401);
    EXPECT_EQ(wrong_name.status, 401);
    EXPECT_EQ(json_of(wrong_password)["detail"], json_of(wrong_name)["detail"]);
}

TEST_F(Sessions, SlowDownWhoGuessesPasswordsAndNobodyElse)
{
    make_account("ada", "user");
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(sign_in_status("ada", "guess number " + std::to_string(i)), 401);

    const net::Response slowed = post("/session", {{"name", "ada"}, {"password", kPassword}});

    EXPECT_EQ(slowed.status, 429);
    EXPECT_EQ(slowed.headers.at("Retry-After"), "60");
    EXPECT_EQ(sign_in_status("ada", kPassword, "198.51.100.7:5000"), 200) << "from elsewhere";
}

TEST_F(Sessions, RefuseWhatIsNeitherATokenNorAPassword)
{
    EXPECT_EQ(post("/session", Json::object()).status, 400);
    EXPECT_EQ(post("/session", {{"name", "ada"}}).status, 400);
    EXPECT_EQ(post("/session", {{"token", "x"}, {"name", "ada"}, {"password", "y"}}).status, 400);
    EXPECT_EQ(post("/session", {{"token", 5}}).status, 400);
}

TEST_F(Sessions, LetTheirOwnersChangeTheirPasswords)
{
    make_account("ada", "user");
    const Browser here = sign_in({{"name", "ada"}, {"password", kPassword}});
    const Browser elsewhere = sign_in({{"name", "ada"}, {"password", kPassword}});
    const auto change = [&](const char* old_password, const char* new_password) {
        return ask(here, Method::kPost, "/session/password",
                   {{"old_password", old_password}, {"new_password", new_password}});
    };

    EXPECT_EQ(change("not the old one", "another long one").status, 403);
    EXPECT_EQ(json_of(change(kPassword, "short"))["errors"][0]["field"], "new_password");
    EXPECT_EQ(json_of(change(kPassword, "my name is ada"))["errors"][0]["field"], "new_password");
    EXPECT_EQ(change(kPassword, "another long one").status, 204);

    EXPECT_EQ(sign_in_status("ada", kPassword), 401);
    EXPECT_EQ(sign_in_status("ada", "another long one"), 200);
    EXPECT_EQ(ask(here, Method::kGet, "/session").status, 200);
    EXPECT_EQ(ask(elsewhere, Method::kGet, "/session").status, 401);
    EXPECT_EQ(ask(sign_in({{"token", admin_}}), Method::kPost, "/session/password",
                  {{"old_password", "x"}, {"new_password", "another long one"}})
                  .status,
              409);
}

TEST(ApiCredentials, AreReadFromTheHeaderBeforeTheCookie)
{
    using Kind = ApiCredential::Kind;
    const std::string token = new_secret("fth_");
    const std::string session = new_secret("fts_");
    const std::string cookie = "__Host-fathom=" + session;

    EXPECT_EQ(credential_of("", "").kind, Kind::kNone);
    EXPECT_EQ(credential_of("bearer  " + token, cookie).secret, token);
    EXPECT_EQ(credential_of("", "a=b;" + cookie + "; c=d").secret, session);
    EXPECT_EQ(credential_of("Bearer " + session, "").kind, Kind::kMalformed) << "a session's secret is no token";
    EXPECT_EQ(credential_of("", "__Host-fathom=" + token).kind, Kind::kNone) << "a token is no session's secret";
    EXPECT_EQ(credential_of("", "x__Host-fathom=" + session).kind, Kind::kNone);
    EXPECT_EQ(credential_of("Basic eDp5", cookie).kind, Kind::kMalformed);
}

} // namespace
} // namespace fathom::server
