#include "server/console/console_api.hpp"

#include "core/base/secret.hpp"

#include <algorithm>
#include <array>

namespace fathom::server {
namespace {

using Answer = net::asio::awaitable<net::Response>;

constexpr std::string_view kDocument = "index.html";
constexpr std::string_view kNoncePlace = "__CSP_NONCE__";

const ConsoleFile* find_file(std::span<const ConsoleFile> files, std::string_view path)
{
    const auto found = std::ranges::lower_bound(files, path, {}, &ConsoleFile::path);
    return found != files.end() && found->path == path ? &*found : nullptr;
}

struct Kind {
    std::string_view ending;
    std::string_view type;
};
constexpr std::array<Kind, 7> kKinds{{{".js", "text/javascript; charset=utf-8"},
                                      {".css", "text/css; charset=utf-8"},
                                      {".html", "text/html; charset=utf-8"},
                                      {".svg", "image/svg+xml"},
                                      {".png", "image/png"},
                                      {".json", "application/json"},
                                      {".woff2", "font/woff2"}}};

std::string_view content_type(std::string_view path)
{
    for (const Kind& kind : kKinds)
        if (path.ends_with(kind.ending)) return kind.type;
    return "application/octet-stream";
}

bool takes_gzip(const net::Request& request)
{
    return request.header("Accept-Encoding").find("gzip") != std::string_view::npos;
}

/// What every answer of the console says to the browser.
void add_guards(net::Response& response)
{
    response.headers["X-Content-Type-Options"] = "nosniff";
    response.headers["Referrer-Policy"] = "no-referrer";
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin";
}

std::string content_security_policy(std::string_view nonce)
{
    return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + std::string(nonce) +
           "'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
           "frame-ancestors 'none'";
}

net::Response not_found(const net::Request& request)
{
    return net::problem(Error{Errc::kNotFound, "there is nothing at this path"}, request.request_id);
}

net::Response document(const ConsoleFile& file)
{
    const std::string nonce = new_secret("");
    net::Response response;
    response.body = std::string(file.content);
    for (std::size_t at = response.body.find(kNoncePlace); at != std::string::npos;
         at = response.body.find(kNoncePlace, at + nonce.size()))
        response.body.replace(at, kNoncePlace.size(), nonce);
    response.headers["Content-Type"] = std::string(content_type(kDocument));
    response.headers["Content-Security-Policy"] = content_security_policy(nonce);
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin";
    response.headers["Cache-Control"] = "no-store"; // the nonce is good for one answer
    add_guards(response);
    return response;
}

net::Response asset(const ConsoleFile& file, const net::Request& request)
{
    net::Response response;
    const bool packed = !file.gzip.empty() && takes_gzip(request);
    response.body = std::string(packed ? file.gzip : file.content);
    if (packed) response.headers["Content-Encoding"] = "gzip";
    response.headers["Vary"] = "Accept-Encoding";
    response.headers["Content-Type"] = std::string(content_type(file.path));
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"; // the name holds the content's hash
    add_guards(response);
    return response;
}

Answer answer_document(std::span<const ConsoleFile> files, net::Request request)
{
    const ConsoleFile* const file = find_file(files, kDocument);
    if (file != nullptr) co_return document(*file);
    const Error error{Errc::kNotFound, "this fathomd was built without its web console (FATHOM_CONSOLE=OFF)"};
    co_return net::problem(error, request.request_id);
}

Answer answer_asset(std::span<const ConsoleFile> files, net::Request request)
{
    const ConsoleFile* const file = find_file(files, "assets/" + request.path_params.at("path"));
    co_return file != nullptr ? asset(*file, request) : not_found(request);
}

/// A path of the console's own, /jobs/job_…, or nothing.
Answer answer_page(std::span<const ConsoleFile> files, net::Request request)
{
    const bool is_page = request.header("Accept").find("text/html") != std::string_view::npos;
    if (!is_page || request.path.starts_with("/api/")) co_return not_found(request);
    co_return co_await answer_document(files, std::move(request));
}

} // namespace

void add_console_routes(net::Router& router, std::span<const ConsoleFile> files)
{
    using net::Method;
    const net::BodyRule no_body{.most_bytes = 0};
    router.add(
        Method::kGet, "/", [files](net::Request request) { return answer_document(files, std::move(request)); },
        no_body);
    router.add(
        Method::kGet, "/assets/{path*}",
        [files](net::Request request) { return answer_asset(files, std::move(request)); }, no_body);
    if (find_file(files, kDocument) != nullptr)
        router.set_page_fallback([files](net::Request request) { return answer_page(files, std::move(request)); });
}

} // namespace fathom::server
