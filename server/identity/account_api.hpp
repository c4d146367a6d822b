#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/account_service.hpp"

namespace fathom::server {

inline constexpr std::size_t kMaxPasswordBytes = 256;
/// Long rather than of many kinds of characters (NIST SP 800-63B).
inline constexpr std::size_t kMinPasswordBytes = 12;

/// /users: who may sign in with a password. Service and database must outlive the router.
void add_account_routes(ApiRouter& router, AccountService& service, Database& database);

} // namespace fathom::server
