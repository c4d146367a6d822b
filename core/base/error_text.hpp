#pragma once
#include <string>
#include <system_error>

namespace fathom {

/// What the system says of a value of errno. Thread-safe, as strerror() is not.
inline std::string error_text(int number)
{
    return std::error_code(number, std::generic_category()).message();
}

} // namespace fathom
