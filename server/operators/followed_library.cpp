#include "server/operators/followed_library.hpp"

#include "core/net/client.hpp"
#include "core/net/tls_context.hpp"
#include "server/operators/operator_order.hpp"

#include <algorithm>
#include <cctype>
#include <memory>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxAnswerBytes = 4UL << 20U;
constexpr std::size_t kMaxOperators = 1000;
constexpr std::size_t kMaxVersions = 1000; ///< of one operator
/// Of all manifests together, as JSON: a library has thousands of versions of a kilobyte or two.
constexpr std::size_t kMaxLibraryBytes = 64UL << 20U;
constexpr const char* kPageSize = "20";

Error not_a_library(const std::string& target, const std::string& what)
{
    return {Errc::kInvalid, "the answer to GET " + target + " " + what};
}

/// Why it refuses, in its own words where it has some.
Error refusal(const std::string& target, const net::ClientResponse& answer)
{
    std::string detail = "it answers GET " + target + " with status " + std::to_string(answer.status);
    const Result<Json> problem = parse_json(answer.body, {.max_bytes = kMaxAnswerBytes});
    if (problem && problem->is_object() && problem->contains("detail") && problem->at("detail").is_string())
        detail += ": " + problem->at("detail").get<std::string>().substr(0, 300);
    return {Errc::kUnavailable, detail};
}

/// Tokens go into the next target as they are.
bool is_plain_token(const std::string& token)
{
    return token.size() <= 1000 && std::all_of(token.begin(), token.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~';
           });
}

/// All items of a list, page by page.
/// @param left_bytes  of what may still be read of the library; this list's are taken off it
Result<std::vector<Json>> read_list(const LibrarySite& site, const std::string& path, std::size_t most,
                                    std::size_t& left_bytes)
{
    std::vector<Json> items;
    std::string token;
    for (std::size_t pages = 0; pages <= most; ++pages) {
        const std::string target = path + "?page_size=" + kPageSize + (token.empty() ? "" : "&page_token=" + token);
        Result<Json> page = site.ask(target);
        if (!page) return page.error();
        const bool is_page = page->is_object() && page->contains("items") && page->at("items").is_array() &&
                             page->contains("next_page_token");
        if (!is_page) return not_a_library(target, "is not a page of a list");
        const std::size_t page_bytes = page->at("items").dump().size();
        if (page_bytes > left_bytes)
            return Error{Errc::kTooLarge,
                         "the library has manifests of more than " + std::to_string(kMaxLibraryBytes >> 20U) + " MiB"};
        left_bytes -= page_bytes;
        for (Json& item : page->at("items"))
            items.push_back(std::move(item));
        if (items.size() > most) break;
        const Json& next = page->at("next_page_token");
        token = next.is_string() ? next.get<std::string>() : "";
        if (token.empty()) return items;
        if (!is_plain_token(token)) return not_a_library(target, "has a next_page_token that is none");
    }
    return Error{Errc::kTooLarge, "GET " + path + " gives more than " + std::to_string(most) + " items"};
}

std::string text_of(const Json& item, const char* field)
{
    return item.is_object() && item.contains(field) && item.at(field).is_string() ? item.at(field).get<std::string>()
                                                                                  : "";
}

/// A manifest with what the server adds to it (to_json(OperatorRecord)).
Result<FollowedVersion> read_version(Json item)
{
    FollowedVersion version;
    version.origin = text_of(item, "origin");
    version.is_withdrawn = !text_of(item, "withdrawn_at").empty();
    version.object_sha256 = text_of(item, "object_sha256");
    if (version.origin != "built_in" && version.origin != "expert" && version.origin != "uploaded")
        return Error{Errc::kInvalid, "its origin is not one that is known here"};
    for (const char* const added : {"origin", "created_at", "created_by", "withdrawn_at", "withdrawn_by", "key_id",
                                    "object_sha256", "object_bytes"})
        item.erase(added);
    Result<OperatorManifest> manifest = parse_operator_manifest(item);
    if (!manifest) return manifest.error();
    version.manifest = std::move(*manifest);
    return version;
}

} // namespace

Result<LibrarySite> library_over_https(const LibraryPlace& place)
{
    Result<net::Endpoint> endpoint = net::parse_endpoint(place.url);
    if (!endpoint) return endpoint.error();
    Result<net::TlsContext> tls = net::make_client_context(place.authority_pem, nullptr);
    if (!tls) return tls.error();
    const net::ClientOptions options{.connect_time = std::chrono::seconds(5),
                                     .response_time = std::chrono::seconds(30),
                                     .body_bytes = kMaxAnswerBytes};
    const auto client = std::make_shared<net::HttpClient>(std::move(*endpoint), std::move(*tls), options);
    net::Headers headers;
    headers["Authorization"] = "Bearer " + place.token;
    LibrarySite site;
    site.ask = [client, headers](const std::string& target) -> Result<Json> {
        const Result<net::ClientResponse> answer = client->request(net::Method::kGet, target, headers, "");
        if (!answer) return answer.error();
        if (answer->status != 200) return refusal(target, *answer);
        return parse_json(answer->body, {.max_bytes = kMaxAnswerBytes});
    };
    site.interrupt = [client] { client->interrupt(); };
    return site;
}

Result<FollowedLibrary> read_followed_library(const LibrarySite& site)
{
    const std::string path = "/api/v1/operators";
    std::size_t left_bytes = kMaxLibraryBytes;
    const Result<std::vector<Json>> operators = read_list(site, path, kMaxOperators, left_bytes);
    if (!operators) return operators.error();
    FollowedLibrary library;
    for (const Json& one : *operators) {
        const std::string id = text_of(one, "id");
        if (!is_operator_id(id)) return not_a_library(path, "has an item without an id");
        Result<std::vector<Json>> versions = read_list(site, path + "/" + id + "/versions", kMaxVersions, left_bytes);
        if (!versions) return versions.error();
        for (Json& item : *versions) {
            Result<FollowedVersion> version = read_version(std::move(item));
            if (version && version->manifest.id != id)
                return not_a_library(path + "/" + id + "/versions", "has a version of another operator");
            if (version)
                library.versions.push_back(std::move(*version));
            else
                library.unreadable.push_back("a version of " + id +
                                             " cannot be read by this release: " + describe(version.error()));
        }
    }
    return library;
}

Result<OperatorPackage> read_followed_package(const LibrarySite& site, const OperatorManifest& manifest)
{
    const std::string target =
        "/api/v1/operators/" + manifest.id + "/versions/" + std::to_string(manifest.version) + "/package";
    const Result<Json> answer = site.ask(target);
    if (!answer) return answer.error();
    Result<OperatorPackage> package = parse_operator_package(*answer);
    if (!package) return package.error();
    if (package->manifest.version != manifest.version || !same_content(package->manifest, manifest))
        return not_a_library(target, "is the package of another manifest");
    return package;
}

} // namespace fathom::server
