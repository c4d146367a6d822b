#pragma once

#include "core/decide/routing/unit_type_view.hpp"

#include <boost/iterator/iterator_facade.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom {

/// Views of unit types that are made when somebody first looks at them: of a large network most decisions look at few.
/// Not thread-safe.
class LateViews {
  public:
    LateViews() = default;
    LateViews(const LateViews&) = delete;
    LateViews& operator=(const LateViews&) = delete;
    virtual ~LateViews() = default;
    /// Makes the view. Valid as long as this object; the same one again and again.
    virtual const UnitTypeView& make(std::size_t index) = 0;
    /// Of a unit type whose view was not made, nor any other way changed: at most so many of its units are taken beyond
    /// what the given view says, counting all that are taken within the first kMinHeld_s or for ever. Empty: ask the
    /// view.
    virtual std::optional<std::int64_t> most_taken(std::size_t index) const = 0;
    /// Of such a unit type: at no moment are more of its units taken beyond what the given view says.
    virtual std::optional<std::int64_t> most_taken_ever(std::size_t index) const = 0;
    /// Of such a unit type: from when on no more is taken beyond what the given view says than what is for ever.
    virtual std::optional<double> last_release_s(std::size_t index) const = 0;
};

/// The unit types of a decision, in order, where they lie: of a large catalog only those need be copied that are
/// otherwise than it says. What it shows must outlive it. With late views it is not thread-safe, not even to read.
class UnitTypeList {
  public:
    class Iterator : public boost::iterator_facade<Iterator, const UnitTypeView, boost::random_access_traversal_tag> {
      public:
        Iterator() = default;
        Iterator(const UnitTypeList& list, std::size_t index) : list_(&list), index_(index) {}

      private:
        friend class boost::iterator_core_access;
        const UnitTypeView& dereference() const { return (*list_)[index_]; }
        bool equal(const Iterator& other) const { return index_ == other.index_; }
        void increment() { ++index_; }
        void decrement() { --index_; }
        void advance(std::ptrdiff_t steps) { index_ += static_cast<std::size_t>(steps); }
        std::ptrdiff_t distance_to(const Iterator& other) const
        {
            return static_cast<std::ptrdiff_t>(other.index_) - static_cast<std::ptrdiff_t>(index_);
        }

        const UnitTypeList* list_ = nullptr;
        std::size_t index_ = 0;
    };

    UnitTypeList() = default;
    // Implicit: decisions are made on plain lists as well.
    UnitTypeList(std::span<const UnitTypeView> unit_types);    // NOLINT(google-explicit-constructor)
    UnitTypeList(const std::vector<UnitTypeView>& unit_types); // NOLINT(google-explicit-constructor)
    /// @param late  makes the views of those unit types that show_late() names; shared with copies of the list.
    UnitTypeList(std::span<const UnitTypeView> given, std::shared_ptr<LateViews> late);

    std::size_t size() const { return views_.size(); }
    const UnitTypeView& operator[](std::size_t index) const
    {
        if (!is_late_.empty() && is_late_[index] != 0) make(index);
        return *views_[index];
    }
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size()}; }
    /// The same, for who asks for nothing that load or the calendar changes (availability, whole devices, GPU rooms,
    /// holds, closures): no late view is made for that.
    const UnitTypeView& given(std::size_t index) const { return *views_[index]; }
    /// A list of all given().
    UnitTypeList given() const;
    /// As LateViews has it; empty without late views.
    std::optional<std::int64_t> most_taken(std::size_t index) const
    {
        return late_ ? late_->most_taken(index) : std::nullopt;
    }
    /// As LateViews has it; empty without late views.
    std::optional<std::int64_t> most_taken_ever(std::size_t index) const
    {
        return late_ ? late_->most_taken_ever(index) : std::nullopt;
    }
    /// As LateViews has it; empty without late views.
    std::optional<double> last_release_s(std::size_t index) const
    {
        return late_ ? late_->last_release_s(index) : std::nullopt;
    }
    /// From here on this one stands there.
    void show(std::size_t index, const UnitTypeView& instead);
    /// From here on the late view stands there.
    void show_late(std::size_t index) { is_late_[index] = 1; }

  private:
    void make(std::size_t index) const;

    // Late views that were made stand in their places.
    mutable std::vector<const UnitTypeView*> views_;
    mutable std::vector<std::uint8_t> is_late_; ///< empty without late views
    std::shared_ptr<LateViews> late_;
};

/// Where each unit type stands in a list.
class UnitTypeIndex {
  public:
    explicit UnitTypeIndex(const UnitTypeList& unit_types);
    UnitTypeIndex(const UnitTypeIndex&) = delete; // the places refer to the ids
    UnitTypeIndex& operator=(const UnitTypeIndex&) = delete;

    std::optional<std::size_t> find(std::string_view id) const;
    /// The same, for who asks for many in the order of the list: looks first at the next ones behind `last`.
    std::optional<std::size_t> find_after(std::optional<std::size_t> last, std::string_view id) const;

  private:
    std::vector<std::string> ids_; ///< one behind the other, so that many are read fast
    std::unordered_map<std::string_view, std::uint32_t> places_;
};

} // namespace fathom
