#pragma once

#include "core/decide/routing/route.hpp"

#include <functional>
#include <span>
#include <vector>

namespace fathom {

/// A decision's telling candidates (core/decide/routing/route_json), on which it is made again with one thing changed
/// at a time: alone (RouteTrial), or together with other jobs (core/schedule/joint_trial). Not thread-safe; request and
/// decision must outlive it.
class DecisionTrial {
  public:
    using Change = std::function<void(UnitTypeView&)>;

    DecisionTrial(const RouteRequest& request, const Decision& decision, const UnitTypeList& unit_types);
    virtual ~DecisionTrial() = default;
    DecisionTrial(const DecisionTrial&) = delete;
    DecisionTrial& operator=(const DecisionTrial&) = delete;

    /// All of the candidates are among these unit types.
    bool is_complete() const { return views_.size() == candidates_.size(); }
    const RouteRequest& request() const { return *request_; }
    const Candidate* winner() const; ///< nullptr: none
    std::size_t size() const { return candidates_.size(); }
    const Candidate& candidate(std::size_t index) const { return *candidates_[index]; }
    const UnitTypeView& view(std::size_t index) const { return views_[index]; }
    bool is_runner_up(std::size_t index) const;

    /// Whether a unit type would win if it were changed so. Nothing stays changed.
    virtual bool wins_with(std::size_t index, const Change& change) = 0;
    /// The decision on another request.
    virtual Decision decide(const RouteRequest& request) = 0;
    /// Whether it is this unit type that won.
    bool wins(const Decision& decision, std::size_t index) const;

  protected:
    std::vector<UnitTypeView> views_; ///< of the candidates

  private:
    const RouteRequest* request_;
    const Decision* decision_;
    std::vector<const Candidate*> candidates_;
};

/// On the candidates' unit types alone: some milliseconds each. The knowledge must outlive it, too.
class RouteTrial : public DecisionTrial {
  public:
    RouteTrial(const RouteRequest& request, const Decision& decision, const UnitTypeList& unit_types,
               const RouteKnowledge& knowledge);

    /// These unit types give the same winner, so that trials on them say something of the decision.
    bool is_valid() const { return is_valid_; }
    bool wins_with(std::size_t index, const Change& change) override;
    Decision decide(const RouteRequest& request) override;

  private:
    const RouteKnowledge* knowledge_;
    bool is_valid_ = false;
};

} // namespace fathom
