#pragma once

#include "tests/server/identity/api_fixture.hpp"

#include <string>

namespace fathom::server {

/// An admin's token.
class TokensTest : public ApiFixture {
  protected:
    int status_with(const std::string& token, const std::string& from = "192.0.2.1:5000")
    {
        return answer({.path = "/api/v1/tokens", .token = token, .remote_address = from}).status;
    }
    std::string admin_ = make_token(Role::kAdmin);
};

} // namespace fathom::server
