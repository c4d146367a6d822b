#include "cli/client/session.hpp"
#include "cli/text/display_text.hpp"

#include <array>
#include <ostream>

namespace fathom::cli {
namespace {

Errc code_of_status(int status)
{
    switch (status) {
    case 401:
        return Errc::kUnauthenticated;
    case 403:
        return Errc::kForbidden;
    case 404:
        return Errc::kNotFound;
    case 409:
    case 412:
        return Errc::kConflict;
    case 413:
    case 431:
        return Errc::kTooLarge;
    case 429:
        return Errc::kTooMany;
    case 502:
    case 503:
        return Errc::kUnavailable;
    case 504:
        return Errc::kDeadline;
    default:
        return status >= 500 ? Errc::kInternal : Errc::kInvalid;
    }
}

Errc code_of_name(std::string_view name, int status)
{
    constexpr std::array kCodes{Errc::kInvalid,     Errc::kUnauthenticated, Errc::kForbidden, Errc::kNotFound,
                                Errc::kConflict,    Errc::kInfeasible,      Errc::kTooLarge,  Errc::kTooMany,
                                Errc::kUnavailable, Errc::kDeadline,        Errc::kInternal};
    for (const Errc code : kCodes) {
        if (to_string(code) == name) return code;
    }
    return code_of_status(status);
}

std::string text_member(const Json& json, const char* name)
{
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool has(const Error& error, std::string_view part)
{
    return error.detail.find(part) != std::string::npos;
}

bool is_trust_problem(const Error& error)
{
    return has(error, "certificate") || has(error, "TLS");
}

} // namespace

Error error_of(const net::ClientResponse& response)
{
    const Result<Json> body = parse_json(response.body);
    if (!body || !body->is_object())
        return Error{code_of_status(response.status),
                     "the server refused with status " + std::to_string(response.status)};
    Error error(code_of_name(text_member(*body, "code"), response.status), text_member(*body, "detail"));
    if (error.detail.empty()) error.detail = text_member(*body, "title");
    if (error.detail.empty()) error.detail = "the server refused with status " + std::to_string(response.status);
    // The server's operator finds the cause in its log by this id.
    if (response.status >= 500) {
        const std::string request = text_member(*body, "request_id");
        error.detail = "the server failed: " + error.detail + (request.empty() ? "" : " (request " + request + ")");
    }
    const auto fields = body->find("errors");
    if (fields == body->end() || !fields->is_array()) return error;
    for (const Json& field : *fields) {
        if (field.is_object()) error.fields.push_back({text_member(field, "field"), text_member(field, "detail")});
    }
    return error;
}

bool is_connection_lost(const Error& error)
{
    const bool never_stood = has(error, "cannot connect") || has(error, "unknown host") ||
                             has(error, "cannot resolve") || has(error, "no connection to") || is_trust_problem(error);
    return error.code == Errc::kUnavailable && !never_stood;
}

std::string hint_of(const Error& error, const Console& console)
{
    switch (error.code) {
    case Errc::kUnauthenticated:
        if (error.detail == "no token is given")
            return "set FATHOM_TOKEN_FILE (or --token-file), e.g. DIR/admin.token of fathomd's state folder";
        return "the token is wrong, expired or revoked; an admin makes a new one with `fathom token create`";
    case Errc::kForbidden:
        return "use a token of a higher role; an admin makes one with `fathom token create --role …`";
    case Errc::kUnavailable:
        if (is_trust_problem(error))
            return console.environment("FATHOM_CA").empty()
                       ? "set FATHOM_CA (or --ca) to the server's authority, e.g. DIR/ca.pem of fathomd's state folder"
                       : "check FATHOM_CA (or --ca): it must be the ca.pem of this very server";
        if (has(error, "the server failed")) return "try again in a moment";
        return "is fathomd running there? FATHOM_URL (or --url) says where, e.g. https://127.0.0.1:8443";
    case Errc::kInfeasible:
        return "`fathom unit list` shows what the centers offer";
    case Errc::kTooMany:
        return "try again in a moment";
    case Errc::kInvalid:
    case Errc::kNotFound:
    case Errc::kConflict:
    case Errc::kTooLarge:
    case Errc::kDeadline:
    case Errc::kInternal:
        return {};
    }
    return {};
}

void report_error(const Error& error, const Console& console)
{
    std::ostream& err = *console.err;
    err << "fathom: " << printable(error.detail) << "\n";
    for (const FieldError& field : error.fields) {
        err << "  " << (field.field.empty() ? std::string("input") : printable(field.field)) << ": "
            << printable(field.detail) << "\n";
    }
    if (const std::string hint = hint_of(error, console); !hint.empty()) err << "  hint: " << hint << "\n";
    err.flush();
}

} // namespace fathom::cli
