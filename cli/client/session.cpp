#include "cli/client/session.hpp"

#include "cli/text/display_text.hpp"
#include "core/base/file.hpp"
#include "core/base/id.hpp"
#include "core/net/tls_context.hpp"

#include <algorithm>
#include <thread>

namespace fathom::cli {
namespace {

constexpr std::string_view kDefaultUrl = "https://127.0.0.1:8443";
constexpr int kPostAttempts = 4;
constexpr std::int64_t kPageSize = 1000;
/// Answers are ours, but a page of 1000 jobs with their files is large.
constexpr JsonLimits kAnswerLimits{.max_bytes = 256UL << 20U, .max_depth = 64};

std::string trimmed(std::string text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    text.erase(text.find_last_not_of(kSpace) + 1);
    text.erase(0, text.find_first_not_of(kSpace));
    return text;
}

/// A file that the user named: whatever is wrong with it is wrong input, not a missing resource.
Result<std::string> read_user_file(const std::string& path, std::string_view what)
{
    Result<std::string> content = read_file(path);
    if (content) return content;
    return Error{Errc::kInvalid, "cannot read the " + std::string(what) + " " + path + ": " + content.error().detail};
}

} // namespace

std::string path_segment(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '_' || c == '.' || c == '~';
        if (plain) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += {'%', kHex[byte >> 4U], kHex[byte & 0xFU]};
    }
    return encoded;
}

std::string api_target(std::string_view path, const Query& query)
{
    std::string target = "/api/v1" + std::string(path);
    char separator = '?';
    for (const auto& [name, value] : query) {
        if (value.empty()) continue;
        target += separator + path_segment(name) + "=" + path_segment(value);
        separator = '&';
    }
    return target;
}

Session::Session(Console console, ConnectionOptions options, OutputFormat format)
    : console_(std::move(console)), options_(std::move(options)), format_(format), url_(options_.url)
{
    if (url_.empty()) url_ = console_.environment("FATHOM_URL");
    has_named_server_ = !url_.empty();
    if (url_.empty()) url_ = kDefaultUrl;
}

Result<std::string> Session::read_token() const
{
    std::string file = options_.token_file;
    if (file.empty()) {
        std::string token = trimmed(console_.environment("FATHOM_TOKEN"));
        if (!token.empty()) return token;
        file = console_.environment("FATHOM_TOKEN_FILE");
    }
    if (file.empty()) return Error{Errc::kUnauthenticated, "no token is given"};
    const Result<std::string> content = read_user_file(file, "token file");
    if (!content) return content.error();
    std::string token = trimmed(*content);
    if (token.empty()) return Error{Errc::kInvalid, "the token file " + file + " is empty"};
    return token;
}

Result<net::TlsContext> Session::make_tls() const
{
    const std::string file = options_.ca_file.empty() ? console_.environment("FATHOM_CA") : options_.ca_file;
    if (file.empty()) return net::make_client_context("", nullptr);
    const Result<std::string> pem = read_user_file(file, "certificate authority's file");
    if (!pem) return pem.error();
    Result<net::TlsContext> tls = net::make_client_context(*pem, nullptr);
    if (!tls) return Error{Errc::kInvalid, file + ": " + tls.error().detail};
    return tls;
}

Result<Session::Opened> Session::open() const
{
    const Result<net::Endpoint> endpoint = net::parse_endpoint(url_);
    if (!endpoint) return endpoint.error();
    const Result<std::string> token = read_token();
    if (!token) return token.error();
    const Result<net::TlsContext> tls = make_tls();
    if (!tls) return tls.error();
    return Opened{net::HttpClient(*endpoint, *tls, {.body_bytes = kAnswerLimits.max_bytes}), "Bearer " + *token};
}

Result<void> Session::ensure_open()
{
    if (opened_) return {};
    Result<Opened> opened = open();
    if (!opened) return opened.error();
    opened_.emplace(std::move(*opened));
    return {};
}

Result<Session> Session::open_another() const
{
    Session other(console_, options_, format_);
    if (const Result<void> opened = other.ensure_open(); !opened) return opened.error();
    return other;
}

Result<net::ClientResponse> Session::send_once(net::Method method, const std::string& target,
                                               const net::Headers& headers, const std::string& body)
{
    Result<net::ClientResponse> response = opened_->client.request(method, target, headers, body);
    // A silent server is one that cannot be reached; kDeadline is kept for the user's own time limits.
    if (!response && response.error().code == Errc::kDeadline)
        return Error{Errc::kUnavailable, response.error().detail};
    return response;
}

Result<Json> Session::send(net::Method method, std::string_view path, const Query& query, const std::string& body,
                           net::Headers headers)
{
    if (const Result<void> opened = ensure_open(); !opened) return opened.error();
    headers["Authorization"] = opened_->authorization;
    headers["Accept"] = "application/json";
    if (!body.empty()) headers["Content-Type"] = "application/json";
    const std::string target = api_target(path, query);
    Result<net::ClientResponse> response = send_once(method, target, headers, body);
    // Only what carries a key may be done again; a connection that never stood is not worth waiting for.
    const bool may_repeat = headers.contains("Idempotency-Key") && !response && is_connection_lost(response.error());
    std::chrono::milliseconds delay = options_.retry_delay;
    for (int attempt = 1; may_repeat && !response && attempt < kPostAttempts; ++attempt) {
        std::this_thread::sleep_for(delay);
        delay *= 3;
        response = send_once(method, target, headers, body);
    }
    if (!response) return response.error();
    if (response->status >= 400) return error_of(*response);
    if (response->body.empty()) return Json();
    Result<Json> json = parse_json(response->body, kAnswerLimits);
    if (!json) return Error{Errc::kInternal, "the server's answer is " + json.error().detail};
    return json;
}

Result<Json> Session::get(std::string_view path, const Query& query)
{
    return send(net::Method::kGet, path, query, "", {});
}

Result<Json> Session::post(std::string_view path, const Json& body)
{
    const std::string text = body.is_null() ? "" : body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return send(net::Method::kPost, path, {}, text, {{"Idempotency-Key", "cli-" + new_ulid()}});
}

Result<Json> Session::patch(std::string_view path, const Json& body)
{
    return send(net::Method::kPatch, path, {}, body.dump(), {});
}

Result<Json> Session::put(std::string_view path, const Json& body, const std::string& if_match)
{
    net::Headers headers;
    if (!if_match.empty()) headers["If-Match"] = if_match;
    return send(net::Method::kPut, path, {}, body.dump(-1, ' ', false, Json::error_handler_t::replace), headers);
}

Result<Json> Session::remove(std::string_view path)
{
    return send(net::Method::kDelete, path, {}, "", {});
}

Result<Session::List> Session::list(std::string_view path, Query query, std::optional<std::int64_t> limit)
{
    List joined;
    Json items = Json::array();
    query.insert(query.end(), {{"page_size", ""}, {"page_token", ""}});
    std::string& page_size = query[query.size() - 2].second;
    std::string& page_token = query.back().second;
    do {
        const std::int64_t left = limit ? *limit - static_cast<std::int64_t>(items.size()) : kPageSize;
        page_size = std::to_string(std::clamp<std::int64_t>(left, 1, kPageSize));
        Result<Json> page = get(path, query);
        if (!page) return page.error();
        if (!page->is_object() || !page->contains("items") || !(*page)["items"].is_array())
            return Error{Errc::kInternal, "the server's answer is not a list"};
        for (Json& item : (*page)["items"])
            items.push_back(std::move(item));
        const Json next = page->value("next_page_token", Json());
        page_token = next.is_string() ? next.get<std::string>() : std::string();
        joined.has_more = !page_token.empty();
    } while (joined.has_more && (!limit || static_cast<std::int64_t>(items.size()) < *limit));
    joined.json = {{"items", std::move(items)}};
    return joined;
}

Result<void> Session::stream(std::string_view path, const Query& query, const net::Headers& headers,
                             const std::function<bool(std::string_view)>& on_data)
{
    if (const Result<void> opened = ensure_open(); !opened) return opened.error();
    net::Headers all = headers;
    all["Authorization"] = opened_->authorization;
    const Result<net::ClientResponse> response =
        opened_->client.stream(net::Method::kGet, api_target(path, query), all, on_data);
    if (!response) return response.error();
    if (response->status >= 400) return error_of(*response);
    return {};
}

} // namespace fathom::cli
