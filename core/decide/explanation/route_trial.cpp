#include "core/decide/explanation/route_trial.hpp"

#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_json.hpp"
#include "core/decide/routing/unit_type_list.hpp"
#include "core/decide/routing/unit_type_view.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace fathom {

DecisionTrial::DecisionTrial(const RouteRequest& request, const Decision& decision, const UnitTypeList& unit_types)
    : request_(&request), decision_(&decision)
{
    const std::vector<std::size_t> kept = telling_candidates(decision);
    for (const UnitTypeView* view : views_of(decision, kept, unit_types))
        views_.push_back(*view);
    for (const std::size_t index : kept)
        candidates_.push_back(&decision.candidates[index]);
}

const Candidate* DecisionTrial::winner() const
{
    return decision_->winner ? &decision_->candidates[*decision_->winner] : nullptr;
}

bool DecisionTrial::is_runner_up(std::size_t index) const
{
    const Candidate* first = winner();
    return first != nullptr && candidate(index).feasible && candidate(index).unit_type_id != first->unit_type_id;
}

bool DecisionTrial::wins(const Decision& decision, std::size_t index) const
{
    return decision.winner && decision.candidates[*decision.winner].unit_type_id == views_[index].id;
}

RouteTrial::RouteTrial(const RouteRequest& request, const Decision& decision, const UnitTypeList& unit_types,
                       const RouteKnowledge& knowledge)
    : DecisionTrial(request, decision, unit_types), knowledge_(&knowledge)
{
    if (!is_complete()) return; // decided on others
    const Decision again = route(request, views_, knowledge);
    is_valid_ = again.winner.has_value() == decision.winner.has_value() &&
                (!again.winner || again.candidates[*again.winner].unit_type_id == winner()->unit_type_id);
}

bool RouteTrial::wins_with(std::size_t index, const Change& change)
{
    UnitTypeView before = views_[index];
    change(views_[index]);
    const bool has_won = wins(decide(request()), index);
    views_[index] = std::move(before);
    return has_won;
}

Decision RouteTrial::decide(const RouteRequest& request)
{
    return route(request, views_, *knowledge_);
}

} // namespace fathom
