#include "core/decide/routing/limited_unit_types.hpp"

#include "core/decide/routing/decision_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>

namespace fathom {
namespace {

/// Of those that deadline or budget removes, so many centers are named.
constexpr std::size_t kMaxLimitedCenters = 20;

} // namespace

void LimitedUnitTypes::count(const RouteSearch& found, FilterTrace& trace)
{
    if (kind_->cost.empty()) return;
    std::vector<std::pair<std::uint32_t, Filter>> seen;
    for (const Found& one : found.removed)
        seen.emplace_back(one.unit_type, *one.choice.removed_by);
    FilterStep late{Filter::kDeadline, 0, {}};
    FilterStep dear{Filter::kBudget, 0, {}};
    mark(seen);
    constexpr auto kLate = static_cast<std::uint8_t>(Filter::kDeadline);
    constexpr auto kDear = static_cast<std::uint8_t>(Filter::kBudget);
    late.removed = std::count(limits_.begin(), limits_.end(), kLate);
    dear.removed = std::count(limits_.begin(), limits_.end(), kDear);
    std::int64_t late_left = late.removed; // to be named
    std::int64_t dear_left = dear.removed;
    const std::uint8_t* const limits = limits_.data();
    for (std::size_t place = 0; late_left + dear_left > 0; ++place) {
        const std::uint32_t unit_type = table_->columns->by_center()[place];
        const std::uint8_t limit = limits[unit_type];
        if (limit == RouteKind::kStays) continue;
        FilterStep& step = limit == kLate ? late : dear;
        std::int64_t& left = limit == kLate ? late_left : dear_left;
        --left;
        if (!note_center(step, unit_type)) left = 0;
    }
    for (FilterStep* step : {&late, &dear}) {
        if (step->removed == 0) continue;
        trace.left -= step->removed;
        trace.steps.push_back(std::move(*step));
    }
}

void LimitedUnitTypes::mark(const std::vector<std::pair<std::uint32_t, Filter>>& seen)
{
    const RouteLimits limits(*request_, *kind_, *chooser_);
    const std::size_t size = kind_->filter.size();
    const std::uint8_t* const filter = kind_->filter.data();
    limits_.resize(size);
    std::uint8_t* const marks = limits_.data();
    for (std::size_t i = 0; i < size; ++i)
        marks[i] = filter[i] == RouteKind::kStays ? limits.removing(i) : RouteKind::kStays;
    for (const auto& [unit_type, removed_by] : seen)
        marks[unit_type] = static_cast<std::uint8_t>(removed_by);
}

bool LimitedUnitTypes::note_center(FilterStep& step, std::uint32_t unit_type)
{
    const std::string& center = table_->unit_types->given(unit_type).center_name;
    if (!step.centers.empty() && step.centers.back().center == center) {
        ++step.centers.back().removed;
        return true;
    }
    if (step.centers.size() == kMaxLimitedCenters) return false;
    named_.push_back(unit_type);
    const double over_s = std::max(kind_->completion_s[unit_type] - chooser_->left_s(), 0.0);
    step.centers.push_back({center, 1,
                            step.filter == Filter::kDeadline
                                ? "would complete " + duration_text(over_s) + " after the deadline at the earliest"
                                : "would cost more than the budget"});
    return true;
}

void LimitedUnitTypes::add_nearest(const FilterTrace& trace, std::vector<std::uint32_t>& kept) const
{
    if (kind_->cost.empty()) return;
    const double budget = budget_limit(request_->budget);
    std::array<std::optional<std::uint32_t>, 4> nearest;
    const auto keep = [&](std::optional<std::uint32_t>& best, std::uint32_t i, const std::vector<double>& column) {
        if (!best || std::tie(column[i], table_->columns->id_rank()[i]) <
                         std::tie(column[*best], table_->columns->id_rank()[*best]))
            best = i;
    };
    const bool is_any = std::any_of(trace.steps.begin(), trace.steps.end(), [](const FilterStep& step) {
        return step.filter == Filter::kDeadline || step.filter == Filter::kBudget;
    });
    for (std::uint32_t i = 0; is_any && i < limits_.size(); ++i) {
        if (limits_[i] == RouteKind::kStays) continue;
        keep(nearest[0], i, kind_->completion_s);
        keep(nearest[1], i, kind_->cost);
        if (kind_->cost[i] <= budget) keep(nearest[2], i, kind_->completion_s);
        if (kind_->completion_s[i] <= chooser_->left_s()) keep(nearest[3], i, kind_->cost);
    }
    for (const std::optional<std::uint32_t>& one : nearest) {
        if (one) kept.insert(kept.begin(), *one);
    }
}

} // namespace fathom
