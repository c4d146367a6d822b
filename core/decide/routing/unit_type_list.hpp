#pragma once

#include "core/decide/routing/unit_type_view.hpp"

#include <boost/iterator/indirect_iterator.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom {

/// The unit types of a decision, in order, where they lie: of a large catalog only those need be copied that are
/// otherwise than it says. What it shows must outlive it.
class UnitTypeList {
  public:
    UnitTypeList() = default;
    // Implicit: decisions are made on plain lists as well.
    UnitTypeList(std::span<const UnitTypeView> unit_types);    // NOLINT(google-explicit-constructor)
    UnitTypeList(const std::vector<UnitTypeView>& unit_types); // NOLINT(google-explicit-constructor)

    std::size_t size() const { return views_.size(); }
    const UnitTypeView& operator[](std::size_t index) const { return *views_[index]; }
    auto begin() const { return boost::make_indirect_iterator(views_.begin()); }
    auto end() const { return boost::make_indirect_iterator(views_.end()); }
    /// From here on this one stands there.
    void show(std::size_t index, const UnitTypeView& instead) { views_[index] = &instead; }

  private:
    std::vector<const UnitTypeView*> views_;
};

/// Where each unit type stands in a list. The ids must outlive it.
class UnitTypeIndex {
  public:
    explicit UnitTypeIndex(const UnitTypeList& unit_types);

    std::optional<std::size_t> find(std::string_view id) const;

  private:
    std::unordered_map<std::string_view, std::uint32_t> places_;
};

} // namespace fathom
