#include "server/app/library_server_settings.hpp"

#include "core/net/client.hpp"
#include "server/app/setting_files.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

std::string check_library_url(std::string_view value)
{
    const bool is_good = value.empty() || (value.starts_with("https://") && net::parse_endpoint(value));
    return is_good ? "" : "must be https://HOST or https://HOST:PORT";
}

/// It goes into a header field.
bool is_token(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

} // namespace

std::vector<SettingSpec> library_setting_specs()
{
    return {
        {"library_url", "",
         "another fathomd whose library of operators this network copies and follows: https://fathom.example.org; "
         "empty: its library is its own",
         check_library_url},
        {"library_token_file", "",
         "file with an API token there, of a role that may read uploads (viewer), which only root and fathomd may read",
         check_file_path},
        {"library_ca_file", "",
         "PEM file with the authorities that may vouch for it, such as its ca.pem; empty: the system's",
         check_file_path},
        {"library_period_s", "60", "seconds between two looks at it", check_integer(1, 86400)},
    };
}

Result<LibraryPlace> to_library_place(const Settings& settings)
{
    LibraryPlace place;
    place.url = settings.text("library_url");
    if (!place.is_on()) return place;
    if (place.url.ends_with('/')) place.url.pop_back();
    place.period = std::chrono::seconds(settings.integer("library_period_s"));
    if (settings.text("library_token_file").empty())
        return Error{Errc::kInvalid, "library_url needs library_token_file"};
    Result<std::string> token = read_secret_file(settings, "library_token_file");
    if (!token) return token.error();
    if (!is_token(*token)) return Error{Errc::kInvalid, "library_token_file: there is no token in it"};
    place.token = std::move(*token);
    Result<std::string> authority = read_authority_file(settings, "library_ca_file");
    if (!authority) return authority.error();
    place.authority_pem = std::move(*authority);
    return place;
}

} // namespace fathom::server
