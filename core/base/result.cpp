#include "core/base/result.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fathom {

std::string_view to_string(Errc code)
{
    switch (code) {
    case Errc::kInvalid:
        return "invalid";
    case Errc::kUnauthenticated:
        return "unauthenticated";
    case Errc::kForbidden:
        return "forbidden";
    case Errc::kNotFound:
        return "not_found";
    case Errc::kConflict:
        return "conflict";
    case Errc::kInfeasible:
        return "infeasible";
    case Errc::kTooLarge:
        return "too_large";
    case Errc::kTooMany:
        return "too_many";
    case Errc::kUnavailable:
        return "unavailable";
    case Errc::kDeadline:
        return "deadline";
    case Errc::kInternal:
        return "internal";
    }
    return "internal";
}

std::string describe(const Error& error)
{
    std::string text(to_string(error.code));
    text += ": " + error.detail;
    for (const FieldError& field : error.fields) {
        text += "; " + (field.field.empty() ? std::string("body") : field.field) + ": " + field.detail;
    }
    return text;
}

void throw_exception_from_error(const Error& error, const boost::source_location&)
{
    throw std::runtime_error(describe(error));
}

void assertion_failed(const char* condition, const char* file, int line)
{
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    std::abort();
}

} // namespace fathom
