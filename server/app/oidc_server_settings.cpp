#include "server/app/oidc_server_settings.hpp"

#include "core/net/client.hpp"
#include "server/app/setting_files.hpp"
#include "server/identity/oidc/https_fetch.hpp"

namespace fathom::server {
namespace {

std::string check_issuer(std::string_view value)
{
    const bool is_good =
        value.empty() || (parse_https_url(value) && value.find_first_of("? @") == std::string_view::npos);
    return is_good ? "" : "must be an address that begins with https://";
}

std::string check_public_url(std::string_view value)
{
    const bool is_good = value.empty() || (value.starts_with("https://") && net::parse_endpoint(value));
    return is_good ? "" : "must be https://HOST or https://HOST:PORT";
}

std::string check_group_roles(std::string_view value)
{
    const Result<std::vector<GroupRole>> roles = parse_group_roles(value);
    return roles ? "" : roles.error().detail;
}

Result<void> check_complete(const Settings& settings)
{
    for (const char* const name : {"oidc_client_id", "public_url", "oidc_roles"})
        if (settings.text(name).empty()) return Error{Errc::kInvalid, "oidc_issuer needs " + std::string(name)};
    const std::string scopes = " " + settings.text("oidc_scopes") + " ";
    if (scopes.find(" openid ") == std::string::npos) return Error{Errc::kInvalid, "oidc_scopes must hold openid"};
    return {};
}

} // namespace

std::vector<SettingSpec> oidc_setting_specs()
{
    return {
        {"public_url", "", "address of the console as browsers name it: https://fathom.example.org", check_public_url},
        {"oidc_issuer", "",
         "OpenID Connect provider that signs people in to the console, as it writes itself: https://id.example.org; "
         "empty: none",
         check_issuer},
        {"oidc_client_id", "", "what fathomd is called there"},
        {"oidc_client_secret_file", "",
         "file with its secret there, which only root and fathomd may read; empty: it has none", check_file_path},
        {"oidc_name", "OpenID Connect", "what people call the provider: on the button of the sign-in", check_not_empty},
        {"oidc_scopes", "openid profile email", "what is asked for there, with spaces between", check_not_empty},
        {"oidc_name_claim", "preferred_username", "claim that names a person's account here", check_not_empty},
        {"oidc_groups_claim", "groups", "claim with a person's groups; realm_access.roles is one within another",
         check_not_empty},
        {"oidc_roles", "",
         "roles of groups: GROUP=ROLE, with semicolons between; of several the first counts; who is in none is refused",
         check_group_roles},
        {"oidc_ca_file", "", "PEM file with the authorities that may vouch for the provider; empty: the system's",
         check_file_path},
    };
}

Result<OidcSettings> to_oidc_settings(const Settings& settings)
{
    OidcSettings typed{.issuer = settings.text("oidc_issuer"),
                       .client_id = settings.text("oidc_client_id"),
                       .client_secret = {},
                       .public_url = settings.text("public_url"),
                       .provider_name = settings.text("oidc_name"),
                       .scopes = settings.text("oidc_scopes"),
                       .name_claim = settings.text("oidc_name_claim"),
                       .groups_claim = settings.text("oidc_groups_claim"),
                       .roles = parse_group_roles(settings.text("oidc_roles")).value(), // checked by read_settings
                       .authority_pem = {}};
    if (!typed.is_on()) return typed;
    if (const Result<void> complete = check_complete(settings); !complete) return complete.error();
    if (typed.public_url.ends_with('/')) typed.public_url.pop_back();
    Result<std::string> secret = read_secret_file(settings, "oidc_client_secret_file");
    if (!secret) return secret.error();
    typed.client_secret = std::move(*secret);
    Result<std::string> authority = read_authority_file(settings, "oidc_ca_file");
    if (!authority) return authority.error();
    typed.authority_pem = std::move(*authority);
    return typed;
}

} // namespace fathom::server
