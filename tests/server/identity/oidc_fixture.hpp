#pragma once

#include "server/identity/audit_api.hpp"
#include "server/identity/oidc/oidc_api.hpp"
#include "tests/server/identity/fake_provider.hpp"
#include "tests/server/identity/session_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::server {

/// What another replica has over the same database, with caches of its own.
struct Replica {
    Replica(Database& database, Notifier& notifier, Metrics& metrics, const Clock& clock, ComputePool& compute,
            FakeProvider& provider)
        : identity(database, notifier, clock, metrics), sessions(database, identity, compute, metrics),
          oidc(FakeProvider::settings(), provider.fetch(), database, identity, sessions, clock, metrics)
    {
    }
    IdentityService identity;
    SessionService sessions;
    OidcService oidc;
};

/// Somebody signs in by a provider without sockets.
class OidcFixture : public SessionFixture {
  protected:
    OidcFixture()
    {
        add_audit_routes(api_, database_, compute_);
        add_oidc_routes(api_, router_, &oidc_);
    }

    static constexpr const char* kStart = "/api/v1/session/oidc/start";

    /// A sign-in that a browser has begun.
    struct UnderWay {
        std::string url;    ///< at the provider
        std::string cookie; ///< the browser's
        std::string state() const { return query_of(url).at("state"); }
    };
    UnderWay begin(std::map<std::string, std::string> query = {}, const std::string& cookie = "")
    {
        Ask ask{.path = kStart, .query = std::move(query)};
        if (!cookie.empty()) ask.headers["Cookie"] = cookie;
        const net::Response response = answer(std::move(ask));
        EXPECT_EQ(response.status, 302) << response.body;
        const auto header = [&](const char* name) {
            return response.headers.contains(name) ? response.headers.at(name) : std::string();
        };
        const std::string set = header("Set-Cookie");
        EXPECT_THAT(set, testing::StartsWith("__Host-fathom-oidc="));
        EXPECT_THAT(set, testing::HasSubstr("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"));
        return {header("Location"), set.substr(0, set.find(';'))};
    }

    net::Response come_back(const UnderWay& sign_in, std::map<std::string, std::string> query)
    {
        Ask ask{.path = "/api/v1/session/oidc/callback", .query = std::move(query)};
        if (!sign_in.cookie.empty()) ask.headers["Cookie"] = "theme=dark; " + sign_in.cookie;
        ask.headers["Accept-Language"] = language_;
        return answer(std::move(ask));
    }
    /// All of it.
    net::Response sign_in_there()
    {
        const UnderWay sign_in = begin();
        return come_back(sign_in, {{"state", sign_in.state()}, {"code", provider_.sign_in(sign_in.url)}});
    }
    Browser browser_of(const net::Response& response)
    {
        const std::string set = response.headers.contains("Set-Cookie") ? response.headers.at("Set-Cookie") : "";
        Browser browser{set.substr(0, set.find(';')), ""};
        browser.csrf_token = json_of(ask(browser, net::Method::kGet, "/session")).value("csrf_token", "");
        return browser;
    }
    Json get(const std::string& path, std::map<std::string, std::string> query = {})
    {
        return json_of(answer({.path = "/api/v1" + path, .token = admin_, .query = std::move(query)}));
    }
    net::Response change(const std::string& name, const Json& body)
    {
        return answer(
            {.method = net::Method::kPatch, .path = "/api/v1/users/" + name, .token = admin_, .body = body.dump()});
    }
    void expect_refused(const net::Response& response, int status, const std::string& reason)
    {
        EXPECT_EQ(response.status, status);
        EXPECT_THAT(response.body, testing::HasSubstr("<code>" + reason + " req_"));
        EXPECT_FALSE(response.headers.contains("Set-Cookie"));
    }

    FakeProvider provider_;
    OidcService oidc_{FakeProvider::settings(), provider_.fetch(), database_, identity_, sessions_, clock_, metrics_};
    std::string language_ = "en-GB,en;q=0.9";
};

} // namespace fathom::server
