#include "server/identity/audit_api.hpp"
#include "server/identity/password_hash.hpp"
#include "tests/server/identity/session_fixture.hpp"

namespace fathom::server {
namespace {

using net::Method;
using test::run_sql;

class Accounts : public SessionFixture {
  protected:
    Accounts() { add_audit_routes(api_, database_, compute_); }

    net::Response change(const std::string& name, const Json& body)
    {
        return answer(
            {.method = Method::kPatch, .path = "/api/v1/users/" + name, .token = admin_, .body = body.dump()});
    }
    Json get(const std::string& path, std::map<std::string, std::string> query = {})
    {
        return json_of(answer({.path = "/api/v1" + path, .token = admin_, .query = std::move(query)}));
    }
};

TEST_F(Accounts, AreKeptWithoutTheirPasswords)
{
    make_account("ada", "expert");

    const Json ada = get("/users/ada");
    EXPECT_EQ(ada["role"], "expert");
    EXPECT_EQ(ada["disabled_at"], nullptr);
    EXPECT_EQ(ada["last_sign_in_at"], nullptr);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM user_account a, audit_log l WHERE a::text || l::text LIKE '%" +
                                std::string(kPassword) + "%'"),
              "0");
    EXPECT_TRUE(run_sql(url_, "SELECT password_hash FROM user_account").starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    sign_in({{"name", "ada"}, {"password", kPassword}});
    EXPECT_NE(get("/users/ada")["last_sign_in_at"], nullptr);
}

TEST_F(Accounts, AreNoTokensOfTheList)
{
    make_account("ada", "expert");
    const std::string identity = get("/users/ada")["token_id"];

    const Json tokens = get("/tokens");
    ASSERT_FALSE(tokens["items"].empty());
    for (const Json& token : tokens["items"])
        EXPECT_NE(token["name"], "ada");
    EXPECT_EQ(answer({.method = Method::kDelete, .path = "/api/v1/tokens/" + identity, .token = admin_}).status, 404);
}

TEST_F(Accounts, AreListedByName)
{
    for (const char* name : {"eve", "ada", "bob"})
        make_account(name, "user");

    const Json first = get("/users", {{"page_size", "2"}});
    const Json second = get("/users", {{"page_size", "2"}, {"page_token", first["next_page_token"]}});

    EXPECT_EQ(first["items"][0]["name"], "ada");
    EXPECT_EQ(first["items"][1]["name"], "bob");
    EXPECT_EQ(second["items"][0]["name"], "eve");
    EXPECT_EQ(second["next_page_token"], nullptr);
}

TEST_F(Accounts, AreRefusedWithEveryFault)
{
    const auto fields = [&](const Json& body) {
        std::string text;
        const Json answer = json_of(post("/users", body, admin_));
        for (const Json& error : answer["errors"])
            text += error["field"].get<std::string>() + " ";
        return text;
    };

    EXPECT_EQ(fields({{"name", "a/b"}, {"role", "king"}, {"password", "short"}}), "name role password ");
    EXPECT_EQ(fields({{"name", "adalovelace"}, {"role", "user"}, {"password", "I am adalovelace"}}), "password ");
    make_account("ada", "user");
    EXPECT_EQ(post("/users", {{"name", "ada"}, {"role", "user"}, {"password", kPassword}}, admin_).status, 409);
    EXPECT_EQ(change("eve", {{"role", "user"}}).status, 404);
    EXPECT_EQ(change("ada", Json::object()).status, 400);
    for (const Role role : {Role::kViewer, Role::kUser, Role::kExpert, Role::kOperator, Role::kBilling, Role::kAuditor})
        EXPECT_EQ(answer({.path = "/api/v1/users", .token = make_token(role)}).status, 403);
}

TEST_F(Accounts, GetOtherRightsAtOnce)
{
    make_account("ada", "admin");
    const Browser browser = sign_in({{"name", "ada"}, {"password", kPassword}});
    ASSERT_EQ(ask(browser, Method::kGet, "/tokens").status, 200);

    EXPECT_EQ(change("ada", {{"role", "user"}}).status, 200);

    EXPECT_EQ(ask(browser, Method::kGet, "/tokens").status, 403);
}

TEST_F(Accounts, CanBeDisabledAndEnabled)
{
    make_account("ada", "user");

    EXPECT_NE(json_of(change("ada", {{"disabled", true}}))["disabled_at"], nullptr);
    EXPECT_EQ(sign_in_status("ada", kPassword), 401);
    EXPECT_EQ(json_of(change("ada", {{"disabled", false}}))["disabled_at"], nullptr);
    EXPECT_EQ(sign_in_status("ada", kPassword), 200);
}

TEST_F(Accounts, GetANewPasswordThatEndsTheirSessions)
{
    make_account("ada", "user");
    const Browser browser = sign_in({{"name", "ada"}, {"password", kPassword}});

    EXPECT_EQ(change("ada", {{"password", "another long one"}}).status, 200);

    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
    EXPECT_EQ(sign_in_status("ada", "another long one"), 200);
}

TEST_F(Accounts, AreRemovedWithTheirSessionsAndTheNameIsFree)
{
    make_account("ada", "user");
    const std::string identity = get("/users/ada")["token_id"];
    const Browser browser = sign_in({{"name", "ada"}, {"password", kPassword}});

    EXPECT_EQ(answer({.method = Method::kDelete, .path = "/api/v1/users/ada", .token = admin_}).status, 204);

    EXPECT_EQ(ask(browser, Method::kGet, "/session").status, 401);
    EXPECT_EQ(answer({.path = "/api/v1/users/ada", .token = admin_}).status, 404);
    make_account("ada", "user");
    EXPECT_NE(get("/users/ada")["token_id"], identity) << "somebody else";
}

TEST_F(Accounts, OfTheLastAdminStay)
{
    make_account("ada", "admin");
    run_sql(url_, "UPDATE api_token SET revoked_at = now() WHERE kind = 'token'");
    identity_.forget_known();
    const Browser ada = sign_in({{"name", "ada"}, {"password", kPassword}});

    EXPECT_EQ(ask(ada, Method::kPatch, "/users/ada", {{"role", "user"}}).status, 409);
    EXPECT_EQ(ask(ada, Method::kPatch, "/users/ada", {{"disabled", true}}).status, 409);
    EXPECT_EQ(ask(ada, Method::kDelete, "/users/ada").status, 409);
    EXPECT_EQ(ask(ada, Method::kGet, "/users/ada").status, 200) << "all of it was taken back";
}

TEST_F(Accounts, StandInTheAuditLogWithWhatWasDoneToThem)
{
    make_account("ada", "admin");
    const Browser ada = sign_in({{"name", "ada"}, {"password", kPassword}});
    ask(ada, Method::kPost, "/users", {{"name", "bob"}, {"role", "user"}, {"password", kPassword}});
    change("bob", {{"password", "another long one"}, {"role", "viewer"}});

    const Json of_bob = get("/audit-log", {{"subject", "bob"}})["items"];
    ASSERT_EQ(of_bob.size(), 2U);
    EXPECT_EQ(of_bob[0]["action"], "account.change");
    EXPECT_EQ(of_bob[0]["detail"], Json({{"password", "changed"}, {"role", "viewer"}}));
    EXPECT_EQ(of_bob[1]["action"], "account.create");
    EXPECT_EQ(of_bob[1]["actor_name"], "ada");
    EXPECT_EQ(get("/audit-log", {{"actor", of_bob[1]["actor"]}, {"action", "session.open"}})["items"].size(), 1U);
    const Json page = get("/audit-log", {{"page_size", "1"}});
    EXPECT_EQ(page["items"][0]["id"], of_bob[0]["id"]);
    const Json next = get("/audit-log", {{"page_size", "1"}, {"page_token", page["next_page_token"]}});
    EXPECT_LT(next["items"][0]["id"], page["items"][0]["id"]);
    EXPECT_EQ(answer({.path = "/api/v1/audit-log", .token = make_token(Role::kExpert)}).status, 403);
    EXPECT_EQ(get("/audit-log", {{"actor", ""}})["errors"][0]["field"], "actor");
}

TEST_F(Accounts, AreFoundInTheAuditLogByTime)
{
    // Ids are not quite in the order of time.
    run_sql(url_, "INSERT INTO audit_log (at, actor, action, subject, request_id) VALUES"
                  " ('2025-03-01T12:00:00Z', 'tok_a', 'center.drain', 'noon', ''),"
                  " ('2025-03-01T10:00:00Z', 'tok_a', 'center.drain', 'ten', ''),"
                  " ('2025-03-01T11:00:00Z', 'tok_b', 'center.drain', 'eleven', ''),"
                  " ('2025-03-02T00:00:00Z', 'tok_a', 'center.drain', 'midnight', '')");
    using Names = std::vector<std::string>;
    const auto subjects = [](const Json& page) {
        Names names;
        for (const Json& act : page["items"])
            names.push_back(act["subject"].get<std::string>());
        return names;
    };
    std::map<std::string, std::string> query{{"since", "2025-03-01T10:00:00Z"}, {"until", "2025-03-02T00:00:00Z"}};
    EXPECT_EQ(subjects(get("/audit-log", query)), (Names{"noon", "eleven", "ten"}));

    query["page_size"] = "2";
    const Json first = get("/audit-log", query);
    EXPECT_EQ(subjects(first), (Names{"noon", "eleven"}));
    query["page_token"] = first["next_page_token"].get<std::string>();
    const Json second = get("/audit-log", query);
    EXPECT_EQ(subjects(second), (Names{"ten"}));
    EXPECT_EQ(second["next_page_token"], nullptr);

    EXPECT_EQ(subjects(get("/audit-log", {{"until", "2025-03-02T00:00:00Z"}, {"actor", "tok_a"}})),
              (Names{"noon", "ten"}));
    EXPECT_EQ(subjects(get("/audit-log", {{"since", "2025-03-01T11:30:00Z"}, {"action", "center.drain"}})),
              (Names{"midnight", "noon"}));
    EXPECT_EQ(get("/audit-log", {{"since", "2025-03-02T00:00:00Z"}, {"until", "2025-03-01T00:00:00Z"}})["errors"][0],
              Json({{"field", "until"}, {"detail", "must be after since"}}));
    EXPECT_EQ(get("/audit-log", {{"since", "yesterday"}})["errors"][0]["field"], "since");
}

TEST(PasswordHash, MatchesItsPasswordOnly)
{
    const std::string hash = hash_password("correct horse").value();

    EXPECT_TRUE(password_matches(hash, "correct horse"));
    EXPECT_FALSE(password_matches(hash, "correct horsf"));
    EXPECT_FALSE(password_matches(hash, ""));
    EXPECT_NE(hash, hash_password("correct horse").value()) << "another salt";
    EXPECT_FALSE(password_matches("", "correct horse"));
    EXPECT_FALSE(password_matches("$argon2id$nonsense", "correct horse"));
}

} // namespace
} // namespace fathom::server
