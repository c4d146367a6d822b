#pragma once

#include "core/base/clock.hpp"

#include <string>
#include <string_view>

namespace fathom {

/// When an id (a ULID, with or without a prefix) was made, to the millisecond.
/// @param id  ends in a ULID (is_ulid).
Timestamp ulid_time(std::string_view id);

/// The smallest ULID of a millisecond: those that were made before it sort before it, all others behind. Of times
/// before 1970 and after the year 10889 the nearest that there is.
std::string first_ulid_of(Timestamp at);

} // namespace fathom
