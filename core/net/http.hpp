#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::net {

namespace asio = boost::asio;

enum class Method { kGet, kPost, kPut, kPatch, kDelete, kHead, kOptions };
std::string_view to_string(Method method);

/// Header names are compared without case.
struct HeaderLess {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const;
};
using Headers = std::map<std::string, std::string, HeaderLess>;

/// What the peer proved with its client certificate (verified against our CA).
struct PeerCertificate {
    std::string common_name;
    std::string serial_hex; ///< lower case
    Timestamp not_after{};
};

/// One request, read completely. Plain data: handlers know nothing of sockets.
struct Request {
    Method method{Method::kGet};
    std::string target;                             ///< as sent, with the query
    std::string path;                               ///< percent-decoded, without the query
    std::map<std::string, std::string> path_params; ///< from the route: `/jobs/{id}` -> {"id", …}, decoded
    std::map<std::string, std::string> query;       ///< decoded; the last of equal names wins
    Headers headers;
    std::string body;
    std::string remote_address;                      ///< "127.0.0.1:51234"
    std::optional<PeerCertificate> peer_certificate; ///< only on mutual-TLS listeners
    std::string request_id;                          ///< `req_…`, also sent back as X-Request-Id

    /// Value of a header, or empty.
    std::string_view header(std::string_view name) const;
};

/// Writes a streamed body piece by piece; offered to Response::stream.
class BodyWriter {
  public:
    virtual ~BodyWriter() = default;
    /// Sends one chunk. @error kUnavailable when the peer is gone or too slow.
    virtual asio::awaitable<Result<void>> write(std::string chunk) = 0;
    /// Waits; returns early with kUnavailable when the server is stopping.
    virtual asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) = 0;
};

struct Response {
    int status{200};
    Headers headers; ///< Content-Type included; Content-Length, Date and X-Request-Id are added
    std::string body;
    /// Who is known to read it: an id of its own for each, such as a token's. Empty: a stranger, known by its address
    /// alone. What is large and read slowly is bounded for each reader.
    std::string reader{};
    /// When set, this writes the body, as long as a Content-Length here says or else chunked; `body` is ignored.
    std::function<asio::awaitable<void>(std::shared_ptr<BodyWriter>)> stream;
};

/// Handlers own their request. A thrown exception becomes a 500 problem and a log line.
using Handler = std::function<asio::awaitable<Response>(Request)>;

/// An RFC 9457 `application/problem+json` response: status from the code, `errors[{field, detail}]`
/// from the fields, `code`, `request_id`. 5xx answers carry no inner detail of kInternal errors.
Response problem(const Error& error, std::string_view request_id);

/// HTTP status for an error class; the one place that maps them.
int http_status(Errc code);

/// `application/json` with the given text.
Response json_response(int status, std::string body);

} // namespace fathom::net
