#pragma once

#include "core/base/clock.hpp"

#include <string_view>

namespace fathom {

/// When an id (a ULID, with or without a prefix) was made, to the millisecond.
/// @param id  ends in a ULID (is_ulid).
Timestamp ulid_time(std::string_view id);

} // namespace fathom
