#include "core/decide/routing/unit_type_list.hpp"

namespace fathom {

UnitTypeList::UnitTypeList(std::span<const UnitTypeView> unit_types)
{
    views_.reserve(unit_types.size());
    for (const UnitTypeView& one : unit_types)
        views_.push_back(&one);
}

UnitTypeList::UnitTypeList(const std::vector<UnitTypeView>& unit_types) : UnitTypeList(std::span(unit_types)) {}

UnitTypeIndex::UnitTypeIndex(const UnitTypeList& unit_types)
{
    places_.reserve(unit_types.size());
    for (std::size_t i = 0; i < unit_types.size(); ++i)
        places_.insert_or_assign(unit_types[i].id.value, static_cast<std::uint32_t>(i));
}

std::optional<std::size_t> UnitTypeIndex::find(std::string_view id) const
{
    const auto found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

} // namespace fathom
