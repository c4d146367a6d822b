#include "core/decide/route_trial.hpp"

#include "core/decide/route_json.hpp"

namespace fathom {

RouteTrial::RouteTrial(const RouteRequest& request, const Decision& decision, std::span<const UnitTypeView> unit_types,
                       const RouteKnowledge& knowledge)
    : request_(&request), decision_(&decision), knowledge_(&knowledge)
{
    const std::vector<std::size_t> kept = telling_candidates(decision);
    for (const UnitTypeView* view : views_of(decision, kept, unit_types))
        views_.push_back(*view);
    if (views_.size() != kept.size()) return; // decided on others
    for (const std::size_t index : kept)
        candidates_.push_back(&decision.candidates[index]);
    const Decision again = decide(request);
    is_sound_ = again.winner.has_value() == decision.winner.has_value() &&
                (!again.winner || again.candidates[*again.winner].unit_type_id == winner()->unit_type_id);
}

const Candidate* RouteTrial::winner() const
{
    return decision_->winner ? &decision_->candidates[*decision_->winner] : nullptr;
}

bool RouteTrial::is_runner_up(std::size_t index) const
{
    const Candidate* first = winner();
    return first != nullptr && candidate(index).feasible && candidate(index).unit_type_id != first->unit_type_id;
}

bool RouteTrial::wins_with(std::size_t index, const Change& change)
{
    UnitTypeView before = views_[index];
    change(views_[index]);
    const bool has_won = wins(decide(*request_), index);
    views_[index] = std::move(before);
    return has_won;
}

Decision RouteTrial::decide(const RouteRequest& request) const
{
    return route(request, views_, *knowledge_);
}

bool RouteTrial::wins(const Decision& decision, std::size_t index) const
{
    return decision.winner && decision.candidates[*decision.winner].unit_type_id == views_[index].id;
}

} // namespace fathom
