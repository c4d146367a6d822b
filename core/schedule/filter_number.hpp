#pragma once

#include "core/decide/routing/filter_trace.hpp"

#include <cstdint>

namespace fathom {

/// What a filter is in documents that are kept, below kFilterCount: the same for ever, wherever others come in.
std::uint8_t written_number(Filter filter);
Filter written_filter(std::uint8_t number); ///< whose number it is

} // namespace fathom
