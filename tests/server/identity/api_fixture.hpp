#pragma once

#include "core/net/router.hpp"
#include "server/api/api_router.hpp"
#include "server/identity/identity_api.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fathom::server {

/// Routes over a database of their own, called without sockets.
class ApiFixture : public testing::Test {
  protected:
    ApiFixture() { add_identity_routes(api_, identity_, database_); }

    struct Ask {
        net::Method method = net::Method::kGet;
        std::string path;
        std::string token = {};
        std::string body = {};
        std::map<std::string, std::string> query = {};
        net::Headers headers = {};
        std::string remote_address = "192.0.2.1:5000";
    };

    std::future<net::Response> send(Ask ask)
    {
        net::Request request;
        request.method = ask.method;
        request.path = request.target = ask.path;
        request.query = std::move(ask.query);
        request.headers = std::move(ask.headers);
        if (!ask.token.empty()) request.headers["Authorization"] = "Bearer " + ask.token;
        request.body = std::move(ask.body);
        request.remote_address = ask.remote_address;
        request.request_id = RequestId::make().value;
        auto match = router_.match(ask.method, ask.path, false);
        auto& route = std::get<net::Router::Http>(match);
        request.path_params = std::move(route.path_params);
        return io_.spawn((*route.handler)(std::move(request)));
    }
    net::Response answer(Ask ask) { return io_.get(send(std::move(ask))); }

    static Json json_of(const net::Response& response) { return Json::parse(response.body); }

    /// A token made by the service itself; returns its secret.
    std::string make_token(Role role, const std::string& name = "test") { return make_token_row(role, name).secret; }
    IdentityService::CreatedToken make_token_row(Role role, const std::string& name = "test")
    {
        IdentityService::TokenRequest wanted;
        wanted.name = name;
        wanted.role = role;
        return io_.run(identity_.create_token(Principal{TokenId{"tok_test"}, "test", Role::kAdmin}, wanted, "req_test"))
            .value();
    }

    const std::string url_ = test::migrated_database();
    Metrics metrics_;
    SystemClock clock_;
    Database database_{{.url = url_, .connections = 4}, metrics_};
    Notifier notifier_{url_};
    IdentityService identity_{database_, notifier_, clock_, metrics_};
    net::Router router_;
    ApiRouter api_{router_, identity_};
    test::TestIo io_;
};

} // namespace fathom::server
