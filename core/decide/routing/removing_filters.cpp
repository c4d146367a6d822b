#include "core/decide/routing/removing_filters.hpp"

#include "core/decide/routing/route_filter.hpp"

namespace fathom {
namespace {

std::uint8_t number_of(std::optional<Filter> filter)
{
    return static_cast<std::uint8_t>(filter ? static_cast<std::size_t>(*filter) : kFilterCount);
}

} // namespace

RemovingFilters::RemovingFilters(const RouteRequest& request, const UnitTypeList& unit_types, RouteColumns& columns)
    : request_(&request), unit_types_(&unit_types), columns_(&columns)
{
    if (!asks_facts_only(request)) return;
    const FactGroups& groups = columns.fact_groups();
    group_of_ = groups.group_of().data();
    const UnitTypeView not_read;
    of_groups_.reserve(groups.facts().size());
    for (const UnitTypeFacts& facts : groups.facts())
        of_groups_.push_back(number_of(removing_filter(request, not_read, facts, true)));
}

std::uint8_t RemovingFilters::ask(std::size_t unit_type, bool runs_operators) const
{
    return number_of(
        removing_filter(*request_, unit_types_->given(unit_type), columns_->facts(unit_type), runs_operators));
}

} // namespace fathom
