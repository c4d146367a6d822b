#include "core/decide/routing/unit_type_list.hpp"

#include <algorithm>
#include <utility>

namespace fathom {

UnitTypeList::UnitTypeList(std::span<const UnitTypeView> unit_types)
{
    views_.reserve(unit_types.size());
    for (const UnitTypeView& one : unit_types)
        views_.push_back(&one);
}

UnitTypeList::UnitTypeList(const std::vector<UnitTypeView>& unit_types) : UnitTypeList(std::span(unit_types)) {}

UnitTypeList::UnitTypeList(std::span<const UnitTypeView> given, std::shared_ptr<LateViews> late) : UnitTypeList(given)
{
    is_late_.resize(size());
    late_ = std::move(late);
}

UnitTypeList UnitTypeList::given() const
{
    UnitTypeList list;
    list.views_ = views_;
    return list;
}

void UnitTypeList::show(std::size_t index, const UnitTypeView& instead)
{
    views_[index] = &instead;
    if (!is_late_.empty()) is_late_[index] = 0;
}

void UnitTypeList::make(std::size_t index) const
{
    views_[index] = &late_->make(index);
    is_late_[index] = 0;
}

UnitTypeIndex::UnitTypeIndex(const UnitTypeList& unit_types)
{
    ids_.reserve(unit_types.size());
    places_.reserve(unit_types.size());
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        ids_.push_back(unit_types.given(i).id.value);
        places_.insert_or_assign(ids_.back(), static_cast<std::uint32_t>(i));
    }
}

std::optional<std::size_t> UnitTypeIndex::find(std::string_view id) const
{
    const auto found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

std::optional<std::size_t> UnitTypeIndex::find_after(std::optional<std::size_t> last, std::string_view id) const
{
    constexpr std::size_t kLookedAt = 3; // some are skipped
    const std::size_t first = last ? *last + 1 : 0;
    for (std::size_t i = first; i < std::min(first + kLookedAt, ids_.size()); ++i) {
        if (ids_[i] == id) return i;
    }
    return find(id);
}

} // namespace fathom
