#include "agent/executor/kubernetes/kubernetes_client.hpp"

#include "core/base/file.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/net/tls_context.hpp"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxTokenBytes = 64UL << 10U;
constexpr std::size_t kMaxAuthorityBytes = 1UL << 20U;
constexpr std::size_t kMaxPageBytes = 64UL << 20U;
constexpr std::size_t kMaxEventBytes = 4UL << 20U;
constexpr std::size_t kMaxRefusalBytes = 1000;
constexpr std::size_t kMaxPages = 1000;
constexpr int kWatch_s = 240;

Result<Json> parse_object(const std::string& text)
{
    Result<Json> json = parse_json(text, {.max_bytes = kMaxPageBytes, .max_depth = 64});
    if (!json) return Error{Errc::kUnavailable, "the API server's answer cannot be read: " + json.error().detail};
    return json;
}

std::string without_end_spaces(std::string text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.pop_back();
    return text;
}

/// One line of a watch.
/// @return false: the server has not that version any more, or the line cannot be read
bool take_event(const std::string& line, std::string& version,
                const std::function<void(const std::string&, const Json&)>& on_event)
{
    const Result<Json> event = parse_json(line, {.max_bytes = kMaxEventBytes, .max_depth = 64});
    if (!event) return false;
    const std::string type = text_in(*event, {"type"});
    const Json* object = find_in(*event, {"object"});
    if (object == nullptr || type == "ERROR") return false;
    if (std::string next = text_in(*object, {"metadata", "resourceVersion"}); !next.empty()) version = std::move(next);
    if (type != "BOOKMARK") on_event(type, *object);
    return true;
}

} // namespace

Error refusal_of(int status, const std::string& body, const std::string& what)
{
    const Result<Json> json = parse_json(body);
    std::string words = json ? text_in(*json, {"message"}) : std::string();
    if (words.empty()) words = "HTTP status " + std::to_string(status);
    const std::string detail = "cannot " + what + ": " + std::string(utf8_prefix(words, kMaxRefusalBytes));
    if (status == 401) return {Errc::kUnauthenticated, detail + "; look at kubernetes_token_file"};
    if (status == 403) return {Errc::kForbidden, detail + "; docs/kubernetes.md says which rights the agent needs"};
    if (status == 404) return {Errc::kNotFound, detail};
    if (status == 409) return {Errc::kConflict, detail};
    if (status == 429) return {Errc::kTooMany, detail};
    return {status >= 500 ? Errc::kUnavailable : Errc::kInvalid, detail};
}

std::chrono::milliseconds pause_after(int failures, std::string_view retry_after)
{
    constexpr std::chrono::seconds kMaxPause = 60s;
    if (const std::optional<int> seconds = parse_number<int>(retry_after); seconds && *seconds >= 0)
        return std::min<std::chrono::seconds>(std::chrono::seconds(*seconds), kMaxPause);
    if (failures <= 0) return 0ms;
    return std::min<std::chrono::seconds>(std::chrono::seconds(1LL << std::min(failures - 1, 6)), kMaxPause);
}

std::string percent_encode(std::string_view text)
{
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_') {
            encoded += c;
        } else {
            encoded += '%';
            encoded += kDigits[byte >> 4U];
            encoded += kDigits[byte & 15U];
        }
    }
    return encoded;
}

std::string namespace_of(const KubernetesConfig& config)
{
    if (!config.name_space.empty()) return config.name_space;
    const Result<std::string> text = read_file(config.token_file.parent_path() / "namespace", kMaxTokenBytes);
    std::string found = text ? without_end_spaces(*text) : std::string();
    return found.empty() ? "default" : found;
}

KubernetesClient::KubernetesClient(KubernetesConfig config)
    : config_(std::move(config)), namespace_(namespace_of(config_))
{
}

std::string KubernetesClient::path_of(const char* group, const char* kind) const
{
    return std::string(group) + "/namespaces/" + percent_encode(namespace_) + "/" + kind;
}

/// Made anew after each failure: the authorities' file may have changed.
Result<net::HttpClient*> KubernetesClient::connect()
{
    {
        const std::scoped_lock lock(mutex_);
        if (is_interrupted_) return Error{Errc::kUnavailable, "interrupted"};
        if (http_) return http_.get();
    }
    Result<net::Endpoint> endpoint = net::parse_endpoint(config_.api);
    if (!endpoint)
        return Error{Errc::kUnavailable, "kubernetes_api: " + endpoint.error().detail +
                                             "; outside a cluster it must be set, such as https://10.0.0.1:6443"};
    const Result<std::string> authorities = read_file(config_.ca_file, kMaxAuthorityBytes);
    if (!authorities) return Error{Errc::kUnavailable, "kubernetes_ca_file: " + authorities.error().detail};
    Result<net::TlsContext> tls = net::make_client_context(*authorities, nullptr);
    if (!tls) return Error{Errc::kUnavailable, "kubernetes_ca_file: " + tls.error().detail};
    net::ClientOptions options;
    options.body_bytes = kMaxPageBytes;
    options.stream_idle_time = std::chrono::seconds(kWatch_s + 30);
    auto made = std::make_unique<net::HttpClient>(std::move(*endpoint), std::move(*tls), options);
    const std::scoped_lock lock(mutex_);
    if (is_interrupted_) return Error{Errc::kUnavailable, "interrupted"};
    http_ = std::move(made);
    return http_.get();
}

Result<net::Headers> KubernetesClient::headers() const
{
    const Result<std::string> token = read_file(config_.token_file, kMaxTokenBytes);
    if (!token) return Error{Errc::kUnavailable, "kubernetes_token_file: " + token.error().detail};
    const std::string secret = without_end_spaces(*token);
    const bool is_text = std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (secret.empty() || !is_text) return Error{Errc::kUnavailable, "kubernetes_token_file holds no token"};
    return net::Headers{
        {"Accept", "application/json"}, {"Content-Type", "application/json"}, {"Authorization", "Bearer " + secret}};
}

Result<net::ClientResponse> KubernetesClient::judge(Result<net::ClientResponse> answer, const std::string& what)
{
    if (!answer) {
        pause_ = pause_after(++failures_, "");
        const std::scoped_lock lock(mutex_);
        http_.reset();
        return Error{answer.error().code, "cannot " + what + ": " + answer.error().detail};
    }
    if (answer->status < 400) {
        failures_ = 0;
        pause_ = {};
        return answer;
    }
    const bool is_busy = answer->status == 429 || answer->status >= 500;
    const auto retry = answer->headers.find("Retry-After");
    failures_ = is_busy ? failures_ + 1 : 0;
    pause_ = is_busy ? pause_after(failures_, retry == answer->headers.end() ? "" : retry->second) : 0ms;
    return refusal_of(answer->status, answer->body, what);
}

Result<net::ClientResponse> KubernetesClient::ask(net::Method method, const std::string& target,
                                                  const std::string& body, const std::string& what)
{
    const Result<net::HttpClient*> http = connect();
    const Result<net::Headers> fields = headers();
    if (!http || !fields) {
        pause_ = pause_after(++failures_, "");
        return http ? fields.error() : http.error();
    }
    return judge((*http)->request(method, target, *fields, body), what);
}

std::string KubernetesClient::version()
{
    const Result<net::ClientResponse> answer = ask(net::Method::kGet, "/version", "", "ask for the version");
    const Result<Json> json = answer ? parse_json(answer->body) : Result<Json>(Json());
    return json ? text_in(*json, {"gitVersion"}) : std::string();
}

Result<Json> KubernetesClient::create_job(const Json& manifest)
{
    const Result<net::ClientResponse> answer =
        ask(net::Method::kPost, path_of("/apis/batch/v1", "jobs"),
            manifest.dump(-1, ' ', false, Json::error_handler_t::replace), "create a Job");
    if (!answer) return answer.error();
    return parse_object(answer->body);
}

Result<Json> KubernetesClient::read_job(const std::string& name)
{
    const Result<net::ClientResponse> answer =
        ask(net::Method::kGet, path_of("/apis/batch/v1", "jobs") + "/" + name, "", "read the Job " + name);
    if (!answer) return answer.error();
    return parse_object(answer->body);
}

Result<void> KubernetesClient::delete_job(const std::string& name, const std::string& uid)
{
    Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
    if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
    const Result<net::ClientResponse> answer =
        ask(net::Method::kDelete, path_of("/apis/batch/v1", "jobs") + "/" + name, options.dump(), "delete a Job");
    if (answer || answer.error().code == Errc::kNotFound || answer.error().code == Errc::kConflict) return {};
    return answer.error();
}

Result<std::string> KubernetesClient::read_log(const std::string& pod)
{
    const Result<net::ClientResponse> answer = ask(
        net::Method::kGet, path_of("/api/v1", "pods") + "/" + pod + "/log?container=job&tailLines=200&limitBytes=65536",
        "", "read a pod's log");
    if (!answer) return answer.error();
    return answer->body;
}

Result<ObjectList> KubernetesClient::list(const std::string& path, const std::string& query)
{
    ObjectList list;
    Result<std::string> version = list_each(path, query, [&](const Json& item) { list.items.push_back(item); });
    if (!version) return version.error();
    list.version = std::move(*version);
    return list;
}

Result<std::string> KubernetesClient::list_each(const std::string& path, const std::string& query,
                                                const std::function<void(const Json&)>& on_item)
{
    std::string next;
    for (std::size_t page = 0; page < kMaxPages; ++page) {
        std::string target = path + "?limit=500" + (query.empty() ? "" : "&" + query);
        if (!next.empty()) target += "&continue=" + percent_encode(next);
        const Result<net::ClientResponse> answer = ask(net::Method::kGet, target, "", "list " + path);
        if (!answer) return answer.error();
        const Result<Json> json = parse_object(answer->body);
        if (!json) return json.error();
        if (const Json* items = find_in(*json, {"items"}); items != nullptr && items->is_array()) {
            for (const Json& item : *items)
                on_item(item);
        }
        next = text_in(*json, {"metadata", "continue"});
        if (next.empty()) return text_in(*json, {"metadata", "resourceVersion"});
    }
    return Error{Errc::kTooLarge, "more objects at " + path + " than are read"};
}

Result<WatchEnd> KubernetesClient::watch(const std::string& path, const std::string& query, std::string& version,
                                         const std::function<void(const std::string&, const Json&)>& on_event)
{
    const Result<net::HttpClient*> http = connect();
    const Result<net::Headers> fields = headers();
    if (!http || !fields) {
        pause_ = pause_after(++failures_, "");
        return http ? fields.error() : http.error();
    }
    const std::string target = path +
                               "?watch=true&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(kWatch_s) +
                               "&resourceVersion=" + percent_encode(version) + (query.empty() ? "" : "&" + query);
    std::string line;
    bool is_good = true;
    const auto on_data = [&](std::string_view data) {
        for (const char c : data) {
            if (c != '\n') {
                line += c;
                continue;
            }
            is_good = is_good && (line.empty() || take_event(line, version, on_event));
            line.clear();
        }
        is_good = is_good && line.size() <= kMaxEventBytes;
        return is_good;
    };
    Result<net::ClientResponse> raw = (*http)->stream(net::Method::kGet, target, *fields, on_data);
    const bool is_gone = raw && raw->status == 410;
    const Result<net::ClientResponse> answer = judge(std::move(raw), "watch " + path);
    if (!is_good || is_gone) return WatchEnd::kGone;
    if (!answer) return answer.error();
    return WatchEnd::kOver;
}

void KubernetesClient::interrupt()
{
    const std::scoped_lock lock(mutex_);
    is_interrupted_ = true;
    if (http_) http_->interrupt();
}

} // namespace fathom::agent
