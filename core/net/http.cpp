#include "core/net/http.hpp"

#include "core/base/json_reader.hpp"
#include "core/net/http_status.hpp"

#include <boost/beast/http/status.hpp>

#include <algorithm>

namespace fathom::net {
namespace {

constexpr char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

Response problem_of(int status, const Error& error, std::string_view request_id)
{
    // Internal errors may carry SQL or paths; nobody outside may see them.
    const bool is_internal = error.code == Errc::kInternal;
    const std::string detail = is_internal ? "internal error" : error.detail;
    Json body{{"type", "about:blank"}, {"title", reason_phrase(status)}, {"status", status},
              {"detail", detail},      {"code", to_string(error.code)},  {"request_id", request_id}};
    if (!is_internal && !error.fields.empty()) {
        Json& errors = body["errors"] = Json::array();
        for (const FieldError& field : error.fields) {
            errors.push_back({{"field", field.field}, {"detail", field.detail}});
        }
    }
    Response response;
    response.status = status;
    response.headers.emplace("Content-Type", "application/problem+json");
    if (error.code == Errc::kUnauthenticated) response.headers.emplace("WWW-Authenticate", "Bearer");
    if (error.code == Errc::kTooMany || error.code == Errc::kUnavailable) response.headers.emplace("Retry-After", "1");
    response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return response;
}

} // namespace

std::string_view to_string(Method method)
{
    switch (method) {
    case Method::kGet:
        return "GET";
    case Method::kPost:
        return "POST";
    case Method::kPut:
        return "PUT";
    case Method::kPatch:
        return "PATCH";
    case Method::kDelete:
        return "DELETE";
    case Method::kHead:
        return "HEAD";
    case Method::kOptions:
        return "OPTIONS";
    }
    return "GET";
}

bool HeaderLess::operator()(std::string_view a, std::string_view b) const
{
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](char x, char y) { return to_lower(x) < to_lower(y); });
}

std::string_view Request::header(std::string_view name) const
{
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

int http_status(Errc code)
{
    switch (code) {
    case Errc::kInvalid:
        return 400;
    case Errc::kUnauthenticated:
        return 401;
    case Errc::kForbidden:
        return 403;
    case Errc::kNotFound:
        return 404;
    case Errc::kConflict:
        return 409;
    case Errc::kInfeasible:
        return 422;
    case Errc::kTooLarge:
        return 413;
    case Errc::kTooMany:
        return 429;
    case Errc::kUnavailable:
        return 503;
    case Errc::kDeadline:
        return 504;
    case Errc::kInternal:
        return 500;
    }
    return 500;
}

std::string_view reason_phrase(int status)
{
    namespace http = boost::beast::http;
    const http::status known = status < 0 ? http::status::unknown : http::int_to_status(static_cast<unsigned>(status));
    return http::obsolete_reason(known);
}

Response problem(const Error& error, std::string_view request_id)
{
    return problem_of(http_status(error.code), error, request_id);
}

Response status_problem(int status, const Error& error, std::string_view request_id)
{
    return problem_of(status, error, request_id);
}

Response json_response(int status, std::string body)
{
    Response response;
    response.status = status;
    response.headers.emplace("Content-Type", "application/json");
    response.body = std::move(body);
    return response;
}

} // namespace fathom::net
