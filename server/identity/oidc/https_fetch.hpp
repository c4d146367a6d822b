#pragma once

#include "core/net/client.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace fathom::server {

/// https://host[:port]/path?query, taken apart.
struct HttpsUrl {
    net::Endpoint endpoint;
    std::string target; ///< "/path?query"
};
/// @error kInvalid  it is no such address; a fragment is none.
Result<HttpsUrl> parse_https_url(std::string_view url);

struct FetchOrder {
    net::Method method{net::Method::kGet};
    std::string url; ///< https://…
    net::Headers headers;
    std::string body;
};

/// Sends one request and waits for its answer, `limit` at most. Redirections are answers. Thread-safe.
/// @error kUnavailable, kDeadline, kTooLarge, kInvalid  as net::HttpClient::request
using Fetch = std::function<Result<net::ClientResponse>(const FetchOrder& order, std::chrono::milliseconds limit)>;

/// By HTTPS, on a connection of its own. An answer may have 1 MiB.
Fetch https_fetch(net::TlsContext tls);

} // namespace fathom::server
