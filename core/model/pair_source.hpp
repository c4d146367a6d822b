#pragma once

#include <optional>
#include <string_view>

namespace fathom {

/// How it came about what somebody is expected to keep of their speed beside another; what rests on more comes later.
enum class PairSource {
    kDefault,      ///< by classes, nothing was measured
    kClassAverage, ///< mean of measured pairs of these classes
    kCompleted,    ///< from measured pairs with the one and with the other
    kMeasured      ///< they ran together
};

/// "default", "class_average", "completed", "measured"
std::string_view to_string(PairSource source);
std::optional<PairSource> parse_pair_source(std::string_view text);

} // namespace fathom
