#pragma once

#include "core/decide/routing/filters.hpp"

#include <cstdint>

namespace fathom {

/// FilterRule::written_number, below kFilterCount.
std::uint8_t written_number(Filter filter);
Filter written_filter(std::uint8_t number); ///< whose number it is

} // namespace fathom
