#pragma once

#include "core/base/result.hpp"
#include "server/identity/principal.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// Who is in the group at the provider has the role here.
struct GroupRole {
    std::string group;
    Role role{Role::kViewer};
};

/// The OpenID Connect provider that signs people in, as the settings of fathomd say.
struct OidcSettings {
    std::string issuer; ///< https://…, exactly as the provider writes it; empty: nobody signs in so
    std::string client_id;
    std::string client_secret;    ///< a secret: never log it. Empty: a public client, by PKCE alone
    std::string public_url;       ///< of the console, as browsers name it, without a slash at its end
    std::string provider_name;    ///< on the button
    std::string scopes;           ///< with spaces between
    std::string name_claim;       ///< becomes the account's name
    std::string groups_claim;     ///< `realm_access.roles` is a claim within a claim
    std::vector<GroupRole> roles; ///< the first one that fits counts
    std::string authority_pem;    ///< that vouch for the provider; empty: the system's

    bool is_on() const { return !issuer.empty(); }
    /// What must be registered at the provider.
    std::string redirect_uri() const { return public_url + "/api/v1/session/oidc/callback"; }
};

/// Reads `GROUP=ROLE; GROUP=ROLE`: names of groups may hold commas and equals signs, as those of directories do.
/// @error kInvalid  with what is wrong.
Result<std::vector<GroupRole>> parse_group_roles(std::string_view text);

/// The role of the first entry whose group is among these; empty when there is none.
std::optional<GroupRole> find_role(const std::vector<GroupRole>& roles, const std::vector<std::string>& groups);

} // namespace fathom::server
