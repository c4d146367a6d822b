#pragma once

#include "server/identity/account_api.hpp"
#include "server/identity/session_api.hpp"
#include "tests/server/identity/api_fixture.hpp"

namespace fathom::server {

/// A browser: keeps the cookie and shows X-CSRF-Token.
struct Browser {
    std::string cookie;
    std::string csrf_token;
};

/// Accounts and sessions beside the tokens.
class SessionFixture : public ApiFixture {
  protected:
    SessionFixture()
    {
        add_account_routes(api_, accounts_, database_);
        add_session_routes(api_, sessions_);
    }

    static constexpr const char* kPassword = "a long enough one";

    net::Response post(const std::string& path, const Json& body, const std::string& token = {},
                       const std::string& from = "192.0.2.1:5000")
    {
        return answer({.method = net::Method::kPost,
                       .path = "/api/v1" + path,
                       .token = token,
                       .body = body.dump(),
                       .remote_address = from});
    }
    void make_account(const std::string& name, const std::string& role)
    {
        const net::Response made = post("/users", {{"name", name}, {"role", role}, {"password", kPassword}}, admin_);
        ASSERT_EQ(made.status, 201) << made.body;
    }
    int sign_in_status(const std::string& name, const std::string& password, const std::string& from = "192.0.2.1:5000")
    {
        return post("/session", {{"name", name}, {"password", password}}, "", from).status;
    }
    /// Signed in, or an assertion fails.
    Browser sign_in(const Json& body)
    {
        const net::Response response = post("/session", body);
        EXPECT_EQ(response.status, 200) << response.body;
        const std::string set = response.headers.contains("Set-Cookie") ? response.headers.at("Set-Cookie") : "";
        return {set.substr(0, set.find(';')), json_of(response).value("csrf_token", "")};
    }
    net::Response ask(const Browser& browser, net::Method method, const std::string& path, const Json& body = Json())
    {
        net::Headers headers{{"Cookie", "theme=dark; " + browser.cookie}};
        if (method != net::Method::kGet) headers["X-CSRF-Token"] = browser.csrf_token;
        return answer({.method = method,
                       .path = "/api/v1" + path,
                       .body = body.is_null() ? "" : body.dump(),
                       .headers = std::move(headers)});
    }

    ComputePool compute_;
    AccountService accounts_{database_, identity_, compute_};
    SessionService sessions_{database_, identity_, compute_, metrics_};
    std::string admin_ = make_token(Role::kAdmin);
};

} // namespace fathom::server
