#include "core/decide/routing/route.hpp"

#include "core/decide/routing/device_ruling.hpp"
#include "core/decide/routing/limited_unit_types.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "core/decide/routing/route_reasons.hpp"
#include "core/decide/routing/route_search.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <tuple>

namespace fathom {
namespace {

/// An explanation shows so many counts at most.
constexpr std::size_t kMaxCountsShown = 32;
/// Feasible candidates that are described where there are more than kMaxCandidatesKept unit types.
constexpr std::size_t kMaxRunnersUp = 16;

/// Room for the infeasible ones of most decisions; many decisions are kept at once, so that room not used is dear.
constexpr std::size_t kRemovedExpected = 8;

/// Those around the chosen one where there are too many to show.
std::vector<CountChoice> shown_counts(const std::vector<CountChoice>& counts, std::int64_t chosen)
{
    if (counts.size() <= kMaxCountsShown) return counts;
    const auto place =
        std::find_if(counts.begin(), counts.end(), [&](const CountChoice& one) { return one.unit_count == chosen; });
    const auto index = static_cast<std::size_t>(place - counts.begin());
    const std::size_t first = std::min(index - std::min(index, kMaxCountsShown / 2), counts.size() - kMaxCountsShown);
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(kMaxCountsShown)};
}

/// Makes one decision out of what the search found.
class Deciding {
  public:
    Deciding(const RouteRequest& request, RouteTable::Impl& table)
        : request_(&request), table_(&table), chooser_(request, table.knowledge)
    {
    }

    OfferedPlaces offered()
    {
        RouteSearch found = search();
        return offers_of(found);
    }

    BriefDecision run_briefly()
    {
        RouteSearch found = search();
        if (found.feasible.empty()) return {whole(found), {}};
        decision_.candidates.push_back(describe(found.feasible.front()));
        set_winner(found.feasible.front());
        return {std::move(decision_), offers_of(found)};
    }

    Decision run() { return whole(search()); }

  private:
    bool is_small() const { return table_->unit_types->size() <= kMaxCandidatesKept; }
    RouteSearch search()
    {
        kind_ = &table_->kind_of(*request_, chooser_);
        RouteSearch found = find_places(*request_, *table_, *kind_, chooser_, most());
        aside_ = set_devices_aside(*request_, *table_, *kind_, chooser_, most(), found);
        return found;
    }

    Decision whole(const RouteSearch& found)
    {
        if (!kind_->cost.empty()) table_->refine_doubtful(*request_, chooser_, *kind_);
        decision_.filter_trace = table_->filter_trace_of(*request_, *kind_);
        LimitedUnitTypes limited(*request_, *table_, *kind_, chooser_);
        limited.count(found, decision_.filter_trace);
        if (!aside_.empty()) {
            decision_.filter_trace.steps.push_back(speedup_step(aside_, *table_->unit_types));
            decision_.filter_trace.left -= decision_.filter_trace.steps.back().removed;
        }
        const std::size_t described = std::min(found.feasible.size(), most());
        decision_.candidates.reserve(described + kRemovedExpected);
        for (std::size_t i = 0; i < described; ++i)
            decision_.candidates.push_back(describe(found.feasible[i]));
        const bool has_winner = !found.feasible.empty();
        add_removed(found, limited);
        if (has_winner) finalize_winner(found.feasible.front());
        if (has_winner) compare_kinds(found);
        return std::move(decision_);
    }

    /// Takes the offers from what was found.
    OfferedPlaces offers_of(RouteSearch& found) const
    {
        OfferedPlaces offered;
        if (found.feasible.empty()) return offered;
        offered.wants_units = !found.feasible.front().choice.plan.window && obstacle_to(found.feasible.front()).empty();
        found.feasible.resize(std::min(found.feasible.size(), most()));
        offered.places.reserve(found.feasible.size());
        for (Found& one : found.feasible)
            offered.places.push_back({one.unit_type, std::move(one.offers)});
        for (const SetAside& one : aside_) {
            if (one.ruling.gpu == one.found.unit_type)
                offered.leaves_out_devices = true;
            else
                offered.places.push_back({one.found.unit_type, one.found.offers});
        }
        return offered;
    }

    /// Feasible candidates.
    std::size_t most() const { return is_small() ? kMaxCandidatesKept : kMaxRunnersUp; }
    const UnitTypeView& view_of(std::size_t unit_type) const { return (*table_->unit_types)[unit_type]; }

    Candidate named(const UnitTypeView& view) const
    {
        Candidate candidate;
        candidate.unit_type_id = view.id;
        candidate.unit_type = view.name;
        candidate.center_id = view.center_id;
        candidate.center = view.center_name;
        candidate.trust_factor = view.trust_factor;
        candidate.unit_count = request_->units.count.value_or(request_->units.min);
        return candidate;
    }

    /// On one unit; valid until the next call.
    const RunPrediction& predict(std::uint32_t unit_type)
    {
        auto& known = kind_->predictions;
        if (known.size() == RouteKind::kMaxPredictions) known.clear();
        const auto [prediction, is_new] = known.try_emplace(unit_type);
        if (is_new) {
            const UnitTypeView& view = view_of(unit_type);
            prediction->second = predict_run({request_->operators,
                                              request_->known_run.get(),
                                              units_of(view),
                                              {table_->knowledge.estimates.get(), view.id.value}});
        }
        return prediction->second;
    }

    /// How long it runs there, on one unit and on as many as it would have.
    void describe_run(const Found& found, Candidate& candidate)
    {
        const PlaceChoice& choice = found.choice;
        candidate.prediction = predict(found.unit_type);
        const RunTime single{candidate.prediction.run_s, candidate.prediction.low_s, candidate.prediction.high_s};
        const bool is_estimate = request_->operators.empty() && choice.compute.run_s > 0 && table_->knowledge.runs;
        candidate.single_run_s = is_estimate
                                     ? choice.compute.run_s
                                     : corrected(single, choice.correction, choice.correction.width_factor).run_s;
        candidate.prediction.run_s = choice.plan.occupied.run_s;
        candidate.prediction.low_s = choice.plan.occupied.low_s;
        candidate.prediction.high_s = choice.plan.occupied.high_s;
        candidate.compute_s = choice.compute.run_s;
        if (!request_->operators.empty() && candidate.prediction.unknown_operators == 0) candidate.raw = choice.raw;
    }

    Candidate describe(const Found& found)
    {
        const UnitTypeView& view = view_of(found.unit_type);
        const PlaceChoice& choice = found.choice;
        Candidate candidate = named(view);
        candidate.feasible = !choice.removed_by;
        candidate.removed_by = choice.removed_by;
        candidate.unit_count = choice.unit_count;
        describe_run(found, candidate);
        candidate.neighbours = choice.neighbours;
        candidate.gpu_share = choice.gpu_share;
        candidate.gpu_room = choice.gpu_room;
        candidate.memory = choice.memory;
        candidate.correction = choice.correction;
        candidate.trust_penalty_s = choice.trust_penalty_s;
        candidate.run_basis = basis_of(view);
        candidate.knee = choice.knee;
        if (request_->units.is_exclusive() && view.units_per_device > 1)
            candidate.whole_devices = choice.unit_count / view.units_per_device;
        if (view.lacks_gpu_memory(request_->units.gpu_memory))
            candidate.gpu_memory_obstacle = gpu_memory_obstacle(request_->units.gpu_memory, view);
        candidate.wait_s = choice.wait_s;
        candidate.start = choice.start;
        candidate.plan = choice.plan;
        candidate.offers = found.offers;
        candidate.closed_until_s = closed_until(view.closures, choice.plan.start_s);
        candidate.completion_s = choice.completion_s;
        candidate.cost = choice.cost;
        candidate.energy_j = choice.energy_j;
        candidate.objective = choice.objective;
        candidate.is_power_missing = choice.is_power_missing;
        candidate.is_run_missing = choice.is_run_missing;
        if (choice.removed_by == Filter::kDeadline)
            candidate.reason = missed_deadline_reason(request_->transfer, candidate);
        else if (choice.removed_by == Filter::kBudget)
            candidate.reason = missed_budget_reason(*request_->budget, candidate);
        return candidate;
    }

    Candidate describe_aside(const SetAside& aside)
    {
        Candidate candidate = describe(aside.found);
        candidate.feasible = false;
        candidate.removed_by = Filter::kSpeedup;
        if (aside.ruling.gpu == aside.found.unit_type) candidate.offers.clear();
        candidate.reason = ruling_reason(aside.ruling, *table_->unit_types);
        return candidate;
    }

    std::string basis_of(const UnitTypeView& view) const
    {
        if (!request_->operators.empty() || !table_->knowledge.runs) return {};
        const std::optional<RunEstimate> estimate = table_->knowledge.runs->estimate(
            request_->job_type, view.id.value, request_->run_owner(), chooser_.asked());
        return estimate ? estimate->basis : std::string();
    }

    Candidate removed(std::uint32_t unit_type, Filter filter)
    {
        const UnitTypeView& view = table_->unit_types->given(unit_type);
        Candidate candidate = named(view);
        candidate.removed_by = filter;
        candidate.reason = filter_reason(*request_, view, filter);
        return candidate;
    }

    /// The infeasible candidates that are kept: all of few, else some of each filter, and those that come nearest to
    /// deadline and budget.
    void add_removed(const RouteSearch& found, const LimitedUnitTypes& limited)
    {
        std::vector<std::uint32_t> kept;
        if (is_small()) {
            for (std::uint32_t i = 0; i < table_->unit_types->size(); ++i)
                kept.push_back(i);
        } else {
            kept = kind_->removed_first;
            limited.add_nearest(decision_.filter_trace, kept);
            const std::span<const std::uint32_t> named = limited.named();
            kept.insert(kept.end(), named.begin(),
                        named.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(named.size(), 8)));
        }
        for (const Found& one : found.feasible)
            std::erase(kept, one.unit_type);
        const std::size_t first = decision_.candidates.size();
        for (const SetAside& one : aside_) {
            std::erase(kept, one.found.unit_type);
            if (decision_.candidates.size() < kMaxCandidatesKept) decision_.candidates.push_back(describe_aside(one));
        }
        std::vector<std::uint32_t> once;
        for (const std::uint32_t unit_type : kept) {
            if (std::find(once.begin(), once.end(), unit_type) == once.end()) once.push_back(unit_type);
        }
        for (const std::uint32_t unit_type : once) {
            if (decision_.candidates.size() == kMaxCandidatesKept) break;
            add_one_removed(unit_type);
        }
        std::sort(decision_.candidates.begin() + static_cast<std::ptrdiff_t>(first), decision_.candidates.end(),
                  [](const Candidate& a, const Candidate& b) {
                      return std::tie(a.center, a.unit_type, a.unit_type_id) <
                             std::tie(b.center, b.unit_type, b.unit_type_id);
                  });
    }

    void add_one_removed(std::uint32_t unit_type)
    {
        if (kind_->filter[unit_type] != RouteKind::kStays) {
            decision_.candidates.push_back(removed(unit_type, static_cast<Filter>(kind_->filter[unit_type])));
            return;
        }
        const PlaceRun run = table_->run_of(*request_, *kind_, unit_type);
        Found found{unit_type, chooser_.choose(view_of(unit_type), run, ChoiceAim::kBest), {}, {}};
        if (found.choice.removed_by) decision_.candidates.push_back(describe(found));
    }

    /// What keeps the winner from its units: its project has taken enough.
    std::string obstacle_to(const Found& winner) const
    {
        const PlaceChoice& choice = winner.choice;
        return quota_obstacle(
            request_->quota, request_->used,
            chooser_.use_of(view_of(winner.unit_type), choice.unit_count, choice.plan.occupied.run_s, choice.cost));
    }

    void set_winner(const Found& found)
    {
        decision_.winner = 0;
        decision_.quota_obstacle = obstacle_to(found);
        decision_.can_start_now = decision_.candidates.front().plan.start_s <= 0 && decision_.quota_obstacle.empty();
    }

    /// What only the winner is asked for: why so many units, and what their run time rests on.
    void finalize_winner(const Found& found)
    {
        set_winner(found);
        Candidate& winner = decision_.candidates.front();
        const UnitTypeView& view = view_of(found.unit_type);
        chooser_.show_costs();
        chooser_.choose(view, table_->run_of(*request_, *kind_, found.unit_type), ChoiceAim::kBest);
        winner.counts = shown_counts(chooser_.counts(), winner.unit_count);
        const RunPrediction& single = predict(found.unit_type);
        const ScaledRun run(single, request_->parts(), view.speedups.get());
        winner.rungs = list_rungs(*request_, winner);
        winner.knee = run.knee(view.unit_count);
        winner.assumptions = run.assumptions(winner.unit_count);
        if (winner.neighbours.is_known) winner.assumptions.push_back(neighbours_assumption(winner.neighbours));
        if (winner.gpu_share.is_known) winner.assumptions.push_back(gpu_share_assumption(winner.gpu_share));
        if (winner.gpu_room.missing_bytes > 0) winner.assumptions.push_back(gpu_room_assumption(winner.gpu_room));
        if (!request_->operators.empty())
            winner.count_reason = count_reason_of(run, request_->units, winner.unit_count, winner.knee);
        if (request_->units.is_exclusive() && is_device(view.resource_type)) add_exclusive_reason(winner);
        explain_ranking(*request_, decision_.candidates);
        decision_.assumptions = list_assumptions(*request_, winner);
    }

    /// What S6 says of the centers that have places of both kinds: of those that it set one aside for, and of what is
    /// left.
    void compare_kinds(const RouteSearch& found)
    {
        std::vector<DevicePlace> places;
        std::deque<RunPrediction> predictions;
        const auto add = [&](const UnitTypeView& view, const RunPrediction& prediction) {
            places.push_back(
                {view.center_name, view.name, view.resource_type, view.bus_gb, &prediction, transfers_of(view)});
        };
        // Of a center the first of each kind are compared: where there are several, those that the winner is one of.
        const std::uint32_t winner = found.feasible.front().unit_type;
        for (const bool is_of_winner : {true, false}) {
            for (const SetAside& one : aside_) {
                const std::array pair{one.ruling.cpu, one.ruling.gpu};
                if ((pair[0] == winner || pair[1] == winner) != is_of_winner) continue;
                for (const std::uint32_t unit_type : pair)
                    add(view_of(unit_type), predictions.emplace_back(predict(unit_type)));
            }
        }
        for (std::size_t i = 0; i < std::min(found.feasible.size(), decision_.candidates.size()); ++i) {
            const UnitTypeView& view = view_of(found.feasible[i].unit_type);
            const Candidate& candidate = decision_.candidates[i];
            if (!candidate.feasible || candidate.unit_type_id != view.id) break;
            add(view, candidate.prediction);
        }
        const bool has_device = std::any_of(places.begin(), places.end(),
                                            [](const DevicePlace& place) { return is_device(place.resource_type); });
        if (!has_device) return;
        decision_.devices = compare_devices(request_->parts(), places, device_terms(*request_));
        for (DeviceChoice& choice : decision_.devices)
            choice.decides = std::any_of(aside_.begin(), aside_.end(), [&](const SetAside& one) {
                return view_of(one.found.unit_type).center_name == choice.center;
            });
    }

    const RouteRequest* request_;
    RouteTable::Impl* table_;
    PlaceChooser chooser_;
    RouteKind* kind_ = nullptr;
    std::vector<SetAside> aside_; ///< that Filter::kSpeedup removes
    Decision decision_;
};

} // namespace

double Candidate::judged_s(const TransferRequest& request) const
{
    const bool waits_for_free = request.deadline && plan.window && !plan.window->is_for_price;
    return trust_penalty_s + neighbours.penalty_s + gpu_share.penalty_s + gpu_room.penalty_s +
           (waits_for_free ? wait_s + prediction.run_s : completion_s);
}

Decision route(const RouteRequest& request, RouteTable& table)
{
    return Deciding(request, table.impl()).run();
}

BriefDecision route_briefly(const RouteRequest& request, RouteTable& table)
{
    return Deciding(request, table.impl()).run_briefly();
}

OfferedPlaces offered_places(const RouteRequest& request, RouteTable& table)
{
    return Deciding(request, table.impl()).offered();
}

Decision route(const RouteRequest& request, const UnitTypeList& unit_types, const RouteKnowledge& knowledge)
{
    RouteTable table(std::make_shared<const UnitTypeList>(unit_types), knowledge);
    return route(request, table);
}

} // namespace fathom
