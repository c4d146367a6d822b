#pragma once

#include "core/decide/route.hpp"

#include <functional>
#include <span>
#include <vector>

namespace fathom {

/// A decision's telling candidates (core/decide/route_json), on which it is made again with one thing changed at a
/// time. Not thread-safe; request, decision and knowledge must outlive it.
class RouteTrial {
  public:
    RouteTrial(const RouteRequest& request, const Decision& decision, std::span<const UnitTypeView> unit_types,
               const RouteKnowledge& knowledge);

    /// These unit types give the same winner, so that trials on them say something of the decision.
    bool is_sound() const { return is_sound_; }
    const RouteRequest& request() const { return *request_; }
    const Candidate* winner() const; ///< nullptr: none
    std::size_t size() const { return candidates_.size(); }
    const Candidate& candidate(std::size_t index) const { return *candidates_[index]; }
    const UnitTypeView& view(std::size_t index) const { return views_[index]; }
    bool is_runner_up(std::size_t index) const;

    using Change = std::function<void(UnitTypeView&)>;
    /// Whether a unit type would win if it were changed so. Nothing stays changed.
    bool wins_with(std::size_t index, const Change& change);
    /// The decision on another request.
    Decision decide(const RouteRequest& request) const;
    /// Whether it is this unit type that won.
    bool wins(const Decision& decision, std::size_t index) const;

  private:
    const RouteRequest* request_;
    const Decision* decision_;
    const RouteKnowledge* knowledge_;
    std::vector<UnitTypeView> views_;
    std::vector<const Candidate*> candidates_;
    bool is_sound_ = false;
};

} // namespace fathom
