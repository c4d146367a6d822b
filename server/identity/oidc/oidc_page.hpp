#pragma once

#include "core/net/http.hpp"
#include "server/identity/oidc/oidc_refusal.hpp"
#include "server/identity/oidc/oidc_settings.hpp"

namespace fathom::server {

/// What pages say besides what has happened.
struct OidcPageContext {
    const OidcSettings* settings = nullptr;
    bool is_chinese{}; ///< else English
    std::string request_id;
};

/// Why somebody is not signed in, for them and their administrator.
net::Response refusal_page(const OidcPageContext& context, const OidcRefusal& refusal);

/// Goes on to a page of the console by itself. A redirection would not do: the browser was sent here by another site,
/// and would go on without the session's cookie (SameSite=Strict).
net::Response forward_page(const OidcPageContext& context, const std::string& path);

} // namespace fathom::server
