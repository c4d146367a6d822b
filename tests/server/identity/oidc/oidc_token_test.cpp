#include "server/identity/oidc/json_web_key.hpp"
#include "server/identity/oidc/oidc_settings.hpp"
#include "server/identity/oidc/person.hpp"
#include "tests/server/identity/fake_provider.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

TEST(OidcProofKey, IsThatOfTheStandardsExample)
{
    // RFC 7636, appendix B.
    EXPECT_EQ(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
              "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(OidcEncoding, GoesThereAndBack)
{
    for (const std::string& text : {std::string(), std::string("a"), std::string("\xff\xfe\x00>?", 5)})
        EXPECT_EQ(base64url_decode(base64url_encode(text)), text);
    EXPECT_EQ(base64url_encode("\xff\xfe"), "__4");
    for (const char* wrong : {"__4=", "//4", "__5", "a", "a b"})
        EXPECT_EQ(base64url_decode(wrong), std::nullopt) << wrong;
    EXPECT_EQ(form_encode({{"a", "x y"}, {"b", "/&=%"}}), "a=x%20y&b=%2F%26%3D%25");
}

TEST(OidcAddress, IsHttpsWithoutAFragment)
{
    const HttpsUrl url = parse_https_url("https://id.example.org:9443/a/b?c=d").value();
    EXPECT_EQ(url.endpoint.host, "id.example.org");
    EXPECT_EQ(url.endpoint.port, 9443);
    EXPECT_EQ(url.target, "/a/b?c=d");
    EXPECT_EQ(parse_https_url("https://id.example.org")->target, "/");
    EXPECT_EQ(parse_https_url("https://id.example.org?x")->target, "/?x");
    for (const char* wrong : {"http://id.example.org/", "https://", "https://a b/", "https://a/\r\nX: y",
                              "https://u@host/", "https://a/#b", "file:///etc"})
        EXPECT_FALSE(parse_https_url(wrong)) << wrong;
}

TEST(OidcRoles, AreReadFromGroupsWithCommasAndEqualsSigns)
{
    const auto roles = parse_group_roles("CN=hpc,OU=groups = admin; /realm/users=user;").value();

    ASSERT_EQ(roles.size(), 2U);
    EXPECT_EQ(roles[0].group, "CN=hpc,OU=groups");
    EXPECT_EQ(roles[0].role, Role::kAdmin);
    EXPECT_EQ(roles[1].group, "/realm/users");
    for (const char* wrong : {"users", "=user", "users=king", "users="})
        EXPECT_FALSE(parse_group_roles(wrong)) << wrong;
}

TEST(OidcRoles, AreThoseOfTheFirstEntryThatFits)
{
    const std::vector<GroupRole> roles{{"admins", Role::kAdmin}, {"users", Role::kUser}};

    EXPECT_EQ(find_role(roles, {"users", "admins"})->role, Role::kAdmin);
    EXPECT_EQ(find_role(roles, {"others", "users"})->role, Role::kUser);
    EXPECT_FALSE(find_role(roles, {"others", "Admins"}));
    EXPECT_FALSE(find_role(roles, {}));
}

TEST(OidcPerson, IsReadFromClaims)
{
    const Json claims{{"sub", "1"},
                      {"realm_access", {{"roles", {"a", 7, "", "b"}}}},
                      {"https://example.org/groups", "one"},
                      {"odd", {{"x", 1}}}};

    EXPECT_EQ(person_of(claims, "name", "realm_access.roles").groups, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(person_of(claims, "sub", "https://example.org/groups").groups, (std::vector<std::string>{"one"}));
    EXPECT_EQ(person_of(claims, "sub", "odd").groups, std::vector<std::string>{});
    EXPECT_EQ(person_of(claims, "name", "none.such").name, "");
}

const Timestamp kNow = parse_rfc3339("2026-11-26T12:00:00Z").value();

Json good_claims()
{
    const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(kNow.time_since_epoch()).count();
    return {{"iss", "https://id"}, {"aud", "me"}, {"sub", "1"}, {"nonce", "n"}, {"iat", now_s}, {"exp", now_s + 300}};
}

std::string fault_of(const Json& change)
{
    Json claims = good_claims();
    claims.update(change);
    const Result<void> checked = check_claims(claims, {"https://id", "me", "n", kNow});
    return checked ? "" : checked.error().detail;
}

TEST(OidcClaims, AreTakenWhenAllIsRight)
{
    EXPECT_EQ(fault_of(Json::object()), "");
    EXPECT_EQ(fault_of({{"aud", {"me"}}}), "");
    EXPECT_EQ(fault_of({{"aud", {"other", "me"}}, {"azp", "me"}}), "");
    const double now_s = good_claims()["iat"];
    EXPECT_EQ(fault_of({{"exp", now_s - 59}, {"iat", now_s + 59}}), "") << "clocks differ a little";
}

TEST(OidcClaims, AreRefusedWhenOneIsWrong)
{
    const double now_s = good_claims()["iat"];
    const std::pair<Json, const char*> cases[] = {
        {{{"iss", "https://id/"}}, "another issuer"},
        {{{"iss", nullptr}}, "another issuer"},
        {{{"aud", "you"}}, "another client"},
        {{{"aud", Json::array()}}, "another client"},
        {{{"aud", 7}}, "another client"},
        {{{"aud", {"me", "you"}}}, "no azp"},
        {{{"azp", "you"}}, "azp"},
        {{{"exp", now_s - 61}}, "expired"},
        {{{"exp", "tomorrow"}}, "until when"},
        {{{"iat", nullptr}}, "when it was made"},
        {{{"iat", now_s + 61}}, "future"},
        {{{"nbf", now_s + 61}}, "not good yet"},
        {{{"nonce", "m"}}, "nonce"},
        {{{"nonce", nullptr}}, "nonce"},
        {{{"sub", ""}}, "sub"},
        {{{"sub", std::string(256, 'x')}}, "sub"},
        {{{"sub", std::string("a\0b", 3)}}, "sub"},
    };
    for (const auto& [change, word] : cases)
        EXPECT_NE(fault_of(change).find(word), std::string::npos) << change << ": " << fault_of(change);
}

TEST(OidcToken, IsThreePartsOfWhichTwoAreObjects)
{
    const SigningKey key("k");
    const std::string good = key.sign({{"sub", "1"}});
    EXPECT_EQ(parse_signed_token(good)->claims["sub"], "1");
    EXPECT_EQ(parse_signed_token(good)->key_id, "k");
    for (const std::string& wrong : {std::string(), std::string("a.b"), std::string(".."), good + ".x", "!" + good,
                                     key.sign(Json::array()), std::string(70000, 'a') + ".b.c"})
        EXPECT_FALSE(parse_signed_token(wrong)) << wrong.substr(0, 40);
    EXPECT_FALSE(parse_signed_token(key.sign(Json::object(), {{"crit", {"x"}}})));
}

Result<void> verified(const std::string& token, std::vector<Json> keys)
{
    return verify_signature(parse_signed_token(token).value(), {{"keys", std::move(keys)}});
}

TEST(OidcSignature, OfTheStandardsExampleIsGood)
{
    // RFC 7515, appendix A.3: ES256.
    const Json key{{"kty", "EC"},
                   {"crv", "P-256"},
                   {"x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"},
                   {"y", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}};
    const std::string token =
        "eyJhbGciOiJFUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

    EXPECT_TRUE(verified(token, {key}));
    std::string forged = token;
    forged[40] = forged[40] == 'A' ? 'B' : 'A';
    if (const Result<SignedToken> parsed = parse_signed_token(forged)) {
        EXPECT_EQ(verify_signature(*parsed, {{"keys", Json::array({key})}}).error().code, Errc::kInvalid);
    }
    Json off_the_curve = key;
    off_the_curve["y"] = off_the_curve["x"];
    EXPECT_EQ(verified(token, {off_the_curve}).error().code, Errc::kNotFound);
}

TEST(OidcSignature, IsOfAKeyOfTheSet)
{
    const SigningKey key("k");
    const SigningKey other("other");
    const SigningKey same_name("k");
    const std::string token = key.sign({{"sub", "1"}});

    EXPECT_TRUE(verified(token, {other.public_key(), key.public_key()}));
    EXPECT_EQ(verified(token, {other.public_key()}).error().code, Errc::kNotFound) << "a newer set may have it";
    EXPECT_EQ(verified(token, {same_name.public_key()}).error().code, Errc::kInvalid);
    EXPECT_EQ(verified(token, {}).error().code, Errc::kNotFound);
    Json for_encryption = key.public_key();
    for_encryption["use"] = "enc";
    EXPECT_EQ(verified(token, {for_encryption}).error().code, Errc::kNotFound);
}

TEST(OidcSignature, IsNeverNoneSharedOrWeak)
{
    const SigningKey key("k");
    const SigningKey weak("weak", 1024);

    for (const char* algorithm : {"none", "HS256", "PS256", "rs256", ""})
        EXPECT_EQ(verified(key.sign({{"sub", "1"}}, {{"alg", algorithm}}), {key.public_key()}).error().code,
                  Errc::kInvalid);
    EXPECT_EQ(verified(weak.sign({{"sub", "1"}}), {weak.public_key()}).error().code, Errc::kNotFound);
    Json without_numbers = key.public_key();
    without_numbers["n"] = "";
    EXPECT_EQ(verified(key.sign({{"sub", "1"}}), {without_numbers}).error().code, Errc::kNotFound);
}

} // namespace
} // namespace fathom::server
