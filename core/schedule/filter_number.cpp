#include "core/schedule/filter_number.hpp"

#include "core/base/result.hpp"

namespace fathom {

std::uint8_t written_number(Filter filter)
{
    const auto place = static_cast<std::uint8_t>(filter);
    constexpr auto kLater = static_cast<std::uint8_t>(Filter::kWallLimit); // than the others, in their midst
    if (place == kLater) return kFilterCount - 1;
    return place < kLater ? place : static_cast<std::uint8_t>(place - 1);
}

Filter written_filter(std::uint8_t number)
{
    for (std::uint8_t place = 0; place < kFilterCount; ++place) {
        if (written_number(static_cast<Filter>(place)) == number) return static_cast<Filter>(place);
    }
    FATHOM_ASSERT(number < kFilterCount);
    return {};
}

} // namespace fathom
