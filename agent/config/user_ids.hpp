#pragma once

#include "core/base/result.hpp"

#include <string_view>

namespace fathom::agent {

/// Numbers of users that have no name and no other use: each attempt runs as one of them.
struct UserIds {
    unsigned first{};
    unsigned last{}; ///< belongs to it
};

/// Reads `200000-265535`.
/// @error kInvalid  another text, a range that holds root or the last number (which means "none" to the kernel).
Result<UserIds> parse_user_ids(std::string_view text);

} // namespace fathom::agent
