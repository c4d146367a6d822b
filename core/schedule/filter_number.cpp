#include "core/schedule/filter_number.hpp"

#include "core/base/result.hpp"

namespace fathom {

std::uint8_t written_number(Filter filter)
{
    const auto place = static_cast<std::uint8_t>(filter);
    if (filter == Filter::kWallLimit) return 11; // later than the first eleven, in their midst
    if (filter == Filter::kSpeedup) return 12;
    if (filter == Filter::kSoftware) return 13;
    if (filter < Filter::kSoftware) return place;
    return static_cast<std::uint8_t>(place - (filter < Filter::kWallLimit ? 1 : 2));
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
