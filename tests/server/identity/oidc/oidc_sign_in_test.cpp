#include "core/base/secret.hpp"
#include "server/identity/oidc/oidc_store.hpp"
#include "tests/server/identity/oidc_fixture.hpp"

namespace fathom::server {
namespace {

using net::Method;
using test::run_sql;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class OidcSignIn : public OidcFixture {};

TEST_F(OidcSignIn, LeadsFromTheProviderToASessionWithTheRoleOfItsGroup)
{
    const UnderWay sign_in = begin({{"return_to", "/jobs?state=running&x=\"<"}});
    const auto asked = query_of(sign_in.url);
    EXPECT_THAT(sign_in.url, StartsWith("https://id.example.org/realm/auth?response_type=code&client_id=fathom&"));
    EXPECT_EQ(asked.at("scope"), "openid profile");

    const net::Response back =
        come_back(sign_in, {{"state", sign_in.state()}, {"code", provider_.sign_in(sign_in.url)}, {"more", "?"}});

    EXPECT_EQ(back.status, 200) << back.body;
    EXPECT_THAT(back.body, HasSubstr("content=\"0;url=/jobs?state=running&amp;x=&quot;&lt;\""));
    EXPECT_THAT(back.headers.at("Content-Security-Policy"), StartsWith("default-src 'none'"));
    EXPECT_THAT(back.headers.at("Set-Cookie"), HasSubstr("SameSite=Strict"));
    const Json session = json_of(ask(browser_of(back), Method::kGet, "/session"));
    EXPECT_EQ(session["account"], "ada");
    EXPECT_EQ(session["role"], "expert");
    EXPECT_EQ(session["has_password"], false);
    const Json ada = get("/users/ada");
    EXPECT_EQ(ada["issuer"], FakeProvider::kIssuer);
    EXPECT_NE(ada["last_sign_in_at"], nullptr);
    const Json acts = get("/audit-log", {{"subject", "ada"}})["items"];
    ASSERT_EQ(acts.size(), 2U);
    EXPECT_EQ(acts[0]["action"], "session.open");
    EXPECT_EQ(acts[0]["detail"]["group"], "hpc");
    EXPECT_EQ(acts[1]["action"], "account.create");
    EXPECT_EQ(acts[1]["actor_name"], "ada");
}

TEST_F(OidcSignIn, IsOfferedFromMemory)
{
    database_.stop();

    EXPECT_EQ(json_of(answer({.path = "/api/v1/session/oidc"})), Json({{"name", "Example & Sons"}}));
}

TEST_F(OidcSignIn, KeepsNoSecretInClearAndNothingAfterwards)
{
    const UnderWay sign_in = begin();
    const auto count = [&] { return run_sql(url_, "SELECT count(*) FROM oidc_sign_in"); };
    EXPECT_EQ(count(), "1");
    const std::string kept = run_sql(url_, "SELECT s::text FROM oidc_sign_in s");
    EXPECT_THAT(kept, Not(HasSubstr(sign_in.state())));
    EXPECT_THAT(kept, Not(HasSubstr(sign_in.cookie.substr(sign_in.cookie.find('=') + 1))));

    come_back(sign_in, {{"state", sign_in.state()}, {"code", provider_.sign_in(sign_in.url)}});

    EXPECT_EQ(count(), "0");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM audit_log WHERE detail::text LIKE '%the code%'"), "0");
}

TEST_F(OidcSignIn, IsGoodOnceInTheBrowserThatBeganIt)
{
    const UnderWay sign_in = begin();
    const std::string code = provider_.sign_in(sign_in.url);
    const UnderWay stranger{sign_in.url, "__Host-fathom-oidc=" + new_secret("")};
    const UnderWay without{sign_in.url, ""};

    expect_refused(come_back(stranger, {{"state", sign_in.state()}, {"code", code}}), 400, "unknown_sign_in");
    expect_refused(come_back(without, {{"state", sign_in.state()}, {"code", code}}), 400, "unknown_sign_in");
    expect_refused(come_back(sign_in, {{"state", "made up"}, {"code", code}}), 400, "unknown_sign_in");
    expect_refused(come_back(sign_in, {}), 400, "unknown_sign_in");
    EXPECT_EQ(come_back(sign_in, {{"state", sign_in.state()}, {"code", code}}).status, 200);
    expect_refused(come_back(sign_in, {{"state", sign_in.state()}, {"code", code}}), 400, "unknown_sign_in");
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM audit_log WHERE action = 'session.refuse'"), "0")
        << "strangers' doing";
}

TEST_F(OidcSignIn, LooksUpNothingThatCannotBeOfASignInHere)
{
    const UnderWay sign_in = begin();
    const UnderWay without{sign_in.url, ""};
    database_.stop();

    for (const std::string& state : {std::string(), std::string("made up"), std::string(5000, 'a')})
        expect_refused(come_back(sign_in, {{"state", state}, {"code", "c"}}), 400, "unknown_sign_in");
    expect_refused(come_back(without, {{"state", sign_in.state()}, {"code", "c"}}), 400, "unknown_sign_in");
    expect_refused(come_back(sign_in, {{"state", sign_in.state()}, {"code", "c"}}), 503, "not_now");
}

TEST_F(OidcSignIn, IsRefusedForATimeWhereTooManyWere)
{
    const UnderWay sign_in = begin();
    const std::string code = provider_.sign_in(sign_in.url);
    int unknown = 0;
    net::Response refused;
    // A second or two may pass: each gives another attempt.
    while (refused.status != 429 && unknown < 200) {
        refused = come_back(sign_in, {{"state", new_secret("")}, {"code", code}});
        if (refused.status == 400) ++unknown;
    }

    EXPECT_GE(unknown, 30);
    EXPECT_LT(unknown, 200);
    expect_refused(refused, 429, "too_many");
    Ask elsewhere{.path = "/api/v1/session/oidc/callback",
                  .query = {{"state", sign_in.state()}, {"code", code}},
                  .headers = {{"Cookie", sign_in.cookie}},
                  .remote_address = "198.51.100.7:5000"};
    EXPECT_EQ(answer(std::move(elsewhere)).status, 200) << "other networks go on";
}

TEST_F(OidcSignIn, IsOverAfterTenMinutes)
{
    const UnderWay sign_in = begin();
    const std::string code = provider_.sign_in(sign_in.url);
    run_sql(url_, "UPDATE oidc_sign_in SET expires_at = expires_at - interval '601 s'");

    expect_refused(come_back(sign_in, {{"state", sign_in.state()}, {"code", code}}), 400, "unknown_sign_in");

    auto clean_up = [](pqxx::work& transaction) { return remove_expired_oidc_sign_ins(transaction); };
    ASSERT_TRUE(database_.blocking_run(clean_up));
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM oidc_sign_in"), "0");
}

TEST_F(OidcSignIn, InTwoTabsOfABrowserBothWork)
{
    const UnderWay first = begin();
    const UnderWay second = begin({}, first.cookie);
    EXPECT_EQ(first.cookie, second.cookie);

    const std::string second_code = provider_.sign_in(second.url);
    EXPECT_EQ(come_back(second, {{"state", second.state()}, {"code", second_code}}).status, 200);
    const std::string first_code = provider_.sign_in(first.url);
    EXPECT_EQ(come_back(first, {{"state", first.state()}, {"code", first_code}}).status, 200);
}

TEST_F(OidcSignIn, IsEndedByAnyReplica)
{
    Replica other(database_, notifier_, metrics_, clock_, compute_, provider_);
    const UnderWay sign_in = begin();
    OidcService::Callback callback{
        .state = sign_in.state(), .code = provider_.sign_in(sign_in.url), .error = {}, .issuer = {}};

    const auto finished = io_.run(
        other.oidc.finish({"192.0.2.1:1", "req_1"}, sign_in.cookie.substr(sign_in.cookie.find('=') + 1), callback));

    ASSERT_TRUE(std::holds_alternative<OidcService::Finished>(finished));
    EXPECT_EQ(std::get<OidcService::Finished>(finished).opened.view.principal.name, "ada");
}

TEST_F(OidcSignIn, GoesOnInTheConsoleOnly)
{
    for (const char* elsewhere : {"https://evil.example", "//evil.example", "/\\evil.example", "/a b",
                                  "/api/v1/session", "jobs", "", "/\r\nx"}) {
        begin({{"return_to", elsewhere}});
        EXPECT_EQ(run_sql(url_, "DELETE FROM oidc_sign_in RETURNING return_to"), "/") << elsewhere;
    }
}

TEST_F(OidcSignIn, GivesTheRoleOfTheGroupsEachTime)
{
    const Browser expert = browser_of(sign_in_there());
    ASSERT_EQ(ask(expert, Method::kGet, "/users").status, 403);
    const std::string identity = get("/users/ada")["token_id"];

    provider_.claims["groups"] = {"hpc", "hpc-admins"};
    provider_.claims["preferred_username"] = "ada.married";
    const Browser admin = browser_of(sign_in_there());

    EXPECT_EQ(ask(admin, Method::kGet, "/users").status, 200);
    EXPECT_EQ(get("/users/ada")["token_id"], identity) << "the subject is the same, whatever its name";
    EXPECT_EQ(get("/users/ada")["role"], "admin");
    EXPECT_EQ(get("/audit-log", {{"subject", "ada"}, {"action", "account.change"}})["items"][0]["detail"]["role"],
              "admin");
    provider_.claims["groups"] = "guests"; // a single one, as a text
    sign_in_there();
    EXPECT_EQ(ask(admin, Method::kGet, "/users").status, 403) << "its older sessions, too";
}

TEST_F(OidcSignIn, RefusesWhoIsInNoGroupAndSaysWhichCame)
{
    provider_.claims["groups"] = {"staff", "<b>visitors</b>"};

    const net::Response refused = sign_in_there();

    expect_refused(refused, 403, "no_group");
    EXPECT_THAT(refused.body, HasSubstr("Example &amp; Sons knows you as ada"));
    EXPECT_THAT(refused.body,
                HasSubstr("<li><code>staff</code></li><li><code>&lt;b&gt;visitors&lt;/b&gt;</code></li>"));
    EXPECT_THAT(refused.body, HasSubstr("oidc_roles"));
    EXPECT_EQ(answer({.path = "/api/v1/users/ada", .token = admin_}).status, 404);
    const Json act = get("/audit-log", {{"action", "session.refuse"}})["items"][0];
    EXPECT_EQ(act["subject"], "ada");
    EXPECT_EQ(act["detail"]["reason"], "no_group");
    EXPECT_EQ(act["detail"]["groups"], Json({"staff", "<b>visitors</b>"}));

    language_ = "zh-CN,zh;q=0.9";
    provider_.claims.erase("groups");
    provider_.user_info = {{"sub", "u-1"}};
    EXPECT_THAT(sign_in_there().body, HasSubstr("没有收到任何组"));
}

TEST_F(OidcSignIn, SignsOutWhoHasNoRoleAnyMore)
{
    const Browser browser = browser_of(sign_in_there());
    provider_.claims["groups"] = Json::array();

    expect_refused(sign_in_there(), 403, "no_group");

    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
}

TEST_F(OidcSignIn, KeepsDisabledAccountsOut)
{
    const Browser browser = browser_of(sign_in_there());
    ASSERT_EQ(change("ada", {{"disabled", true}}).status, 200);

    expect_refused(sign_in_there(), 403, "disabled");
    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
    ASSERT_EQ(change("ada", {{"disabled", false}}).status, 200);
    EXPECT_EQ(sign_in_there().status, 200);
}

TEST_F(OidcSignIn, TakesNobodysName)
{
    make_account("ada", "admin");
    expect_refused(sign_in_there(), 403, "name_taken");
    EXPECT_EQ(get("/users/ada")["issuer"], nullptr);
    EXPECT_EQ(sign_in_status("ada", kPassword), 200) << "still its owner's";

    make_token_row(Role::kUser, "night-builds");
    provider_.claims["preferred_username"] = "night-builds";
    expect_refused(sign_in_there(), 403, "name_taken");

    provider_.claims["preferred_username"] = "eve";
    EXPECT_EQ(sign_in_there().status, 200);
    provider_.claims["sub"] = "u-2";
    expect_refused(sign_in_there(), 403, "name_taken");
}

TEST_F(OidcSignIn, RefusesNamesThatCannotStandInPaths)
{
    for (const Json& name : {Json("../admin"), Json(""), Json(7), Json(std::string(65, 'a')), Json("9to5")}) {
        provider_.claims["preferred_username"] = name;
        expect_refused(sign_in_there(), 403, "name_unfit");
    }
}

TEST_F(OidcSignIn, HasNoPasswordHereAndNoRoleFromHere)
{
    const Browser browser = browser_of(sign_in_there());

    EXPECT_EQ(change("ada", {{"role", "admin"}}).status, 409);
    EXPECT_EQ(change("ada", {{"password", "a long enough one"}}).status, 409);
    EXPECT_EQ(sign_in_status("ada", ""), 400);
    EXPECT_EQ(sign_in_status("ada", "a long enough one"), 401);
    const Json passwords{{"old_password", "x"}, {"new_password", "a long enough one"}};
    EXPECT_EQ(ask(browser, Method::kPost, "/session/password", passwords).status, 409);
    EXPECT_EQ(ask(browser, Method::kDelete, "/session").status, 204);
    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
}

class WithoutOidc : public SessionFixture {};

TEST_F(WithoutOidc, NothingIsOffered)
{
    add_oidc_routes(api_, router_, nullptr);

    EXPECT_EQ(json_of(answer({.path = "/api/v1/session/oidc"})), Json({{"name", nullptr}}));
    EXPECT_EQ(answer({.path = "/api/v1/session/oidc/start"}).status, 404);
    EXPECT_EQ(answer({.path = "/api/v1/session/oidc/callback"}).status, 404);
}

} // namespace
} // namespace fathom::server
