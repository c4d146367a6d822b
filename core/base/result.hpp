#pragma once

#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {

/// What went wrong, in classes that a program can act on. Small and shared on purpose.
enum class Errc {
    kInvalid,         ///< the request itself is wrong; sending it again cannot help
    kUnauthenticated, ///< no valid credential
    kForbidden,       ///< the credential's role does not allow this
    kNotFound,        ///< missing, or not the caller's to see
    kConflict,        ///< the state changed meanwhile, or a key is taken
    kInfeasible,      ///< understood, but nothing in the network can do it
    kTooLarge,        ///< over a size limit
    kTooMany,         ///< over a rate or queue limit; try again later
    kUnavailable,     ///< a part that is needed is not there now; try again later
    kDeadline,        ///< ran out of time
    kInternal,        ///< a defect or a broken environment
};

/// Lower-case stable name of a class, as used in JSON ("invalid", "not_found", …).
std::string_view to_string(Errc code);

/// Whether the same may succeed later without a change: nothing is wrong with what was asked.
constexpr bool is_transient(Errc code)
{
    return code == Errc::kTooMany || code == Errc::kUnavailable || code == Errc::kDeadline || code == Errc::kInternal;
}

/// One field of an input that was refused.
struct FieldError {
    std::string field; ///< path as in JSON: `operators[1].parameters.m`; empty for the whole body
    std::string detail;
};

/// A failure as a value. `detail` is for people, `code` for programs, `fields` for forms.
struct Error {
    Errc code{Errc::kInternal};
    std::string detail;
    std::vector<FieldError> fields;

    Error() = default; // boost::system::result needs it
    // A constructor, not an aggregate: else everything that converts to Errc would convert to Error.
    Error(Errc error_code, std::string text, std::vector<FieldError> field_errors = {})
        : code(error_code), detail(std::move(text)), fields(std::move(field_errors))
    {
    }
};

/// A value or an Error. Note: `error()` returns a copy; do not iterate over `result.error().fields` directly.
template <class T>
using Result = boost::system::result<T, Error>;

/// One line with the code, the detail and every field error, for logs and terminals.
std::string describe(const Error& error);

/// Called by `Result::value()` on an error: throws std::runtime_error with `describe(error)`.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& location);

/// Stops the process when an invariant of ours is broken. Never for outside input.
#define FATHOM_ASSERT(condition)                                                                                       \
    ((condition) ? static_cast<void>(0) : ::fathom::assertion_failed(#condition, __FILE__, __LINE__))

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

} // namespace fathom
