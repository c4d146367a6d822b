#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// What people are told of an end for want of memory begins so, wherever it is told.
inline constexpr std::string_view kOutOfMemoryWords = "out of memory";

/// The detail of such an end, as agents tell it.
/// @param what  who ended it, or the limit that it reached
inline std::string out_of_memory_detail(std::string_view what)
{
    return std::string("out of memory: ").append(what);
}

} // namespace fathom
