#include "server/identity/oidc/https_fetch.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxAnswerBytes = 1UL << 20U;
constexpr std::chrono::milliseconds kConnectLimit{5000};

} // namespace

Result<HttpsUrl> parse_https_url(std::string_view url)
{
    constexpr std::string_view kScheme = "https://";
    const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '#'; }; // it goes into header fields
    const bool has_odd = std::any_of(url.begin(), url.end(), is_odd);
    const Error bad(Errc::kInvalid, "not an https address" + (has_odd ? "" : ": " + std::string(url.substr(0, 200))));
    if (!url.starts_with(kScheme) || has_odd) return bad;
    const std::size_t end = std::min(url.find_first_of("/?", kScheme.size()), url.size());
    Result<net::Endpoint> endpoint = net::parse_endpoint(url.substr(0, end));
    if (!endpoint) return bad;
    std::string target(url.substr(end));
    if (!target.starts_with('/')) target.insert(0, "/");
    return HttpsUrl{std::move(*endpoint), std::move(target)};
}

Fetch https_fetch(net::TlsContext tls)
{
    return [tls = std::move(tls)](const FetchOrder& order,
                                  std::chrono::milliseconds limit) -> Result<net::ClientResponse> {
        Result<HttpsUrl> url = parse_https_url(order.url);
        if (!url) return url.error();
        const net::ClientOptions options{
            .connect_time = std::min(limit, kConnectLimit), .response_time = limit, .body_bytes = kMaxAnswerBytes};
        net::Headers headers = order.headers;
        headers["Connection"] = "close";
        net::HttpClient client(url->endpoint, tls, options);
        return client.request(order.method, url->target, headers, order.body);
    };
}

} // namespace fathom::server
