#pragma once

#include "core/decide/routing/filter_trace.hpp"
#include "core/decide/routing/route_search.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// Part of core/decide/routing/route.
namespace fathom {

/// The unit types that a decision's deadline and budget remove. Refers to what it is made of.
class LimitedUnitTypes {
  public:
    LimitedUnitTypes(const RouteRequest& request, RouteTable::Impl& table, const RouteKind& kind,
                     const PlaceChooser& chooser)
        : request_(&request), table_(&table), kind_(&kind), chooser_(&chooser)
    {
    }

    /// Adds the steps of both filters to a trace of the kind's filters: what is removed by the bounds, and by what was
    /// looked at. Without deadline and budget nothing is.
    void count(const RouteSearch& found, FilterTrace& trace);
    /// Of those that only deadline or budget removes the earliest and the cheapest, of all and of those that keep the
    /// other limit: what the submitter is told to choose from. They come first in `kept`.
    /// @param trace  count() has added to it
    void add_nearest(const FilterTrace& trace, std::vector<std::uint32_t>& kept) const;
    /// One of each center that count() has named.
    std::span<const std::uint32_t> named() const { return named_; }

  private:
    /// kDeadline or kBudget where one of these removes a unit type, else kStays.
    void mark(const std::vector<std::pair<std::uint32_t, Filter>>& seen);
    /// False when so many centers are named that this one is not.
    bool note_center(FilterStep& step, std::uint32_t unit_type);

    const RouteRequest* request_;
    RouteTable::Impl* table_;
    const RouteKind* kind_;
    const PlaceChooser* chooser_;
    std::vector<std::uint8_t> limits_; ///< by unit type; empty without deadline and budget
    std::vector<std::uint32_t> named_;
};

} // namespace fathom
