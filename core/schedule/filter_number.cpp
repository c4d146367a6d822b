#include "core/schedule/filter_number.hpp"

#include "core/base/result.hpp"

namespace fathom {

std::uint8_t written_number(Filter filter)
{
    return rule_of(filter).written_number;
}

Filter written_filter(std::uint8_t number)
{
    const auto found = find_filter([number](const FilterRule& rule) { return rule.written_number == number; });
    FATHOM_ASSERT(found);
    return *found;
}

} // namespace fathom
