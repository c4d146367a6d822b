#pragma once

#include "server/identity/oidc/oidc_service.hpp"

namespace fathom::server {

/// /session/oidc: whether a provider signs people in, how a browser begins, and how it comes back.
/// @param router   of the same listener: providers add to the callback's query what they like.
/// @param service  null: no provider is set up, and only that is said. Must outlive the router.
void add_oidc_routes(ApiRouter& api, net::Router& router, OidcService* service);

} // namespace fathom::server
