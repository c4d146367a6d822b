#include "core/model/data_location.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::size_t kMaxNameBytes = 255; ///< of a file, as file systems have it

bool has_sign_to_refuse(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

/// Between the scheme and the path; empty of file URLs.
std::string_view authority_of(std::string_view url)
{
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, std::min(url.find_first_of("/?#", begin), url.size()) - begin);
}

/// Of "s3://bucket/key": the key as it is, not encoded.
std::string problem_of_object(std::string_view url)
{
    constexpr std::size_t kMaxBucketBytes = 63;
    constexpr std::string_view kSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const std::string_view bucket = authority_of(url);
    if (bucket.empty() || bucket.size() > kMaxBucketBytes || bucket.starts_with('.') ||
        bucket.find_first_not_of(kSigns) != std::string_view::npos)
        return "must name a bucket: s3://bucket/key";
    if (url.find_first_of("?#") != std::string_view::npos) return "must be a plain name, without ? and #";
    const std::size_t key = url.find('/', kObjectScheme.size());
    if (key == std::string_view::npos || key + 1 == url.size()) return "must name an object: s3://bucket/key";
    const std::string parts = std::string(url.substr(key)) + "/";
    for (const char* refused : {"//", "/./", "/../"}) {
        if (parts.find(refused) != std::string::npos) return "must have no empty part, no . and no .. in it";
    }
    return "";
}

} // namespace

std::string problem_of_url(std::string_view url)
{
    if (has_sign_to_refuse(url)) return "must have no spaces and no control characters";
    if (url.starts_with("file://")) {
        if (!url.starts_with("file:///")) return "must name no host: file:///folder/name";
        if (url.find_first_of("?#%") != std::string_view::npos) return "must be a plain path, without %, ? and #";
        return (std::string(url) + "/").find("/../") == std::string::npos ? "" : "must have no .. in it";
    }
    if (is_object_url(url)) return problem_of_object(url);
    if (!url.starts_with("https://") && !url.starts_with("http://"))
        return "must begin with https://, http://, s3:// or file:///";
    const std::string_view authority = authority_of(url);
    if (authority.find('@') != std::string_view::npos)
        return "must hold no user and password: sign the URL instead, as object stores do";
    return authority.empty() ? "names no host" : "";
}

std::string problem_of_path(std::string_view path)
{
    if (path.starts_with('/')) return "must be relative to the working folder";
    if (path.starts_with(kOwnFilePrefix)) return "must not begin with " + std::string(kOwnFilePrefix);
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view name = path.substr(begin, end - begin);
        if (name.empty() || name == "." || name == "..") return "must have no empty part, no . and no .. in it";
        if (name.size() > kMaxNameBytes) return "has a part of more than 255 bytes";
        begin = end + 1;
    }
    return std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; })
               ? "must have no control characters"
               : "";
}

std::string shown_url(std::string_view url)
{
    const std::size_t scheme = url.find("://");
    std::string shown(url.substr(0, url.find_first_of("?#")));
    if (scheme == std::string_view::npos || scheme >= shown.size()) return shown;
    const std::size_t begin = scheme + 3;
    const std::size_t host_end = std::min(shown.find('/', begin), shown.size());
    const std::size_t user_end = shown.substr(begin, host_end - begin).rfind('@');
    if (user_end != std::string::npos) shown.erase(begin, user_end + 1);
    return shown;
}

} // namespace fathom
