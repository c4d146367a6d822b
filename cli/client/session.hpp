#pragma once

#include "cli/client/exit_code.hpp"
#include "cli/text/console.hpp"
#include "core/base/json_reader.hpp"
#include "core/net/client.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::cli {

enum class OutputFormat { kTable, kJson };

/// How to reach the server. Flags win over the environment.
struct ConnectionOptions {
    std::string url;        ///< --url
    std::string token_file; ///< --token-file
    std::string ca_file;    ///< --ca
    /// Before the first repetition of a POST whose connection was lost; tripled each time.
    std::chrono::milliseconds retry_delay{200};
};

/// Names and values of a query; empty values are left out.
using Query = std::vector<std::pair<std::string, std::string>>;

/// One segment of a path, percent-encoded.
std::string path_segment(std::string_view text);

/// `/api/v1` + path + query.
std::string api_target(std::string_view path, const Query& query = {});

/// The error that a refused request carries in its problem document, or the status says.
Error error_of(const net::ClientResponse& response);

/// The connection to the server: opened at the first request, kept for the next. Not thread-safe.
class Session {
  public:
    Session(Console console, ConnectionOptions options, OutputFormat format);

    Console& console() { return console_; }
    OutputFormat format() const { return format_; }
    bool wants_json() const { return format_ == OutputFormat::kJson; }
    Timestamp now() const { return console_.clock->now(); }

    // Each answers the server's JSON. @error as the server says; kUnavailable when it cannot be
    // reached; kUnauthenticated without a token.
    Result<Json> get(std::string_view path, const Query& query = {});
    /// With an Idempotency-Key, and repeated under the same key when the connection is lost: the
    /// server does it once.
    Result<Json> post(std::string_view path, const Json& body);
    Result<Json> patch(std::string_view path, const Json& body);
    /// `if_match` is the ETag that the change is based on; empty for any.
    Result<Json> put(std::string_view path, const Json& body, const std::string& if_match);
    Result<Json> remove(std::string_view path);

    /// All pages of a list as `{"items": […]}`, at most `limit` items. `has_more` is set when the
    /// server has further ones.
    struct List {
        Json json;
        bool has_more = false;
    };
    Result<List> list(std::string_view path, Query query, std::optional<std::int64_t> limit);

    /// A GET whose body is handed over as it arrives, until it ends or `on_data` returns false.
    Result<void> stream(std::string_view path, const Query& query, const net::Headers& headers,
                        const std::function<bool(std::string_view)>& on_data);

    /// A further connection with this one's settings, for another thread.
    Result<Session> open_another() const;

    /// Where the server should be, for messages.
    const std::string& url() const { return url_; }
    /// True when the user said where the server is; else commands that can do without one do.
    bool has_named_server() const { return has_named_server_; }

  private:
    struct Opened {
        net::HttpClient client;
        std::string authorization;
    };

    Result<Opened> open() const;
    Result<void> ensure_open();
    Result<std::string> read_token() const;
    Result<net::TlsContext> make_tls() const;
    Result<Json> send(net::Method method, std::string_view path, const Query& query, const std::string& body,
                      net::Headers headers);
    Result<net::ClientResponse> send_once(net::Method method, const std::string& target, const net::Headers& headers,
                                          const std::string& body);

    Console console_;
    ConnectionOptions options_;
    OutputFormat format_;
    std::string url_;
    bool has_named_server_ = false;
    std::optional<Opened> opened_;
};

/// True when the error says that the connection broke after it stood, so that a repetition may help.
bool is_connection_lost(const Error& error);

/// What to do about an error, for people; empty when the error says it all.
std::string hint_of(const Error& error, const Console& console);

/// `fathom: what happened`, each field error on its own line, and a hint of the way out; on standard error.
void report_error(const Error& error, const Console& console);

} // namespace fathom::cli
