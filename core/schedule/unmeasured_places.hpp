#pragma once

#include "core/decide/route.hpp"

#include <chrono>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom {

/// unmeasured_candidates() of core/decide/route at one moment, kept for requests that are alike. Not thread-safe; the
/// unit types must outlive it.
class UnmeasuredPlaces {
  public:
    UnmeasuredPlaces(std::span<const UnitTypeView> unit_types, Timestamp now) : unit_types_(unit_types), now_(now) {}

    /// Indices into the unit types. Valid until this ends.
    const std::vector<std::size_t>& find(const RouteRequest& request, std::chrono::seconds period);

  private:
    std::span<const UnitTypeView> unit_types_;
    Timestamp now_;
    std::unordered_map<std::string, std::vector<std::size_t>> known_; ///< by what it depends on
};

} // namespace fathom
