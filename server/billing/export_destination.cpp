#include "server/billing/export_destination.hpp"

#include "core/model/data_location.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxPrefixBytes = 512;

bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// As Amazon names buckets: 3 to 63 of lower-case letters, digits, '.', '-', with a letter or digit at both ends.
bool is_bucket(std::string_view name)
{
    return name.size() >= 3 && name.size() <= 63 && is_lower_or_digit(name.front()) && is_lower_or_digit(name.back()) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_lower_or_digit(c) || c == '.' || c == '-'; });
}

/// Letters, digits and what no service takes for its own; no part is "." or "..".
bool is_prefix(std::string_view prefix)
{
    const bool has_good_letters = std::all_of(prefix.begin(), prefix.end(), [](char c) {
        return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-' || c == '/';
    });
    if (!has_good_letters || prefix.size() > kMaxPrefixBytes) return false;
    for (std::size_t begin = 0; begin < prefix.size();) {
        const std::size_t end = std::min(prefix.find('/', begin), prefix.size());
        const std::string_view part = prefix.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..") return false;
        begin = end + 1;
    }
    return true;
}

} // namespace

Result<ExportDestination> parse_export_destination(std::string_view text, const ExportPlaces& places)
{
    ExportDestination destination;
    if (text == "folder") {
        if (places.folder.empty())
            return Error{Errc::kInvalid, "this server has no folder for exports: its setting export_folder names one"};
        return destination;
    }
    if (!is_object_url(text)) return Error{Errc::kInvalid, "must be folder or s3://BUCKET/PREFIX"};
    if (places.store.endpoint.empty())
        return Error{Errc::kInvalid, "this server has no object store: its settings s3_endpoint, s3_access_key and "
                                     "s3_secret_key name one"};
    text.remove_prefix(kObjectScheme.size());
    const std::size_t slash = std::min(text.find('/'), text.size());
    destination.is_folder = false;
    destination.bucket = text.substr(0, slash);
    destination.prefix = slash < text.size() ? text.substr(slash + 1) : std::string_view();
    if (!is_bucket(destination.bucket))
        return Error{Errc::kInvalid, "the bucket's name must be 3 to 63 lower-case letters, digits, dots and hyphens"};
    if (!is_prefix(destination.prefix))
        return Error{Errc::kInvalid,
                     "behind the bucket only letters, digits, '.', '_', '-' may stand, and '/' between"};
    if (!destination.prefix.empty() && destination.prefix.back() != '/') destination.prefix += '/';
    return destination;
}

} // namespace fathom::server
