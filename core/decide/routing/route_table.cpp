#include "core/decide/routing/route_table.hpp"

#include "core/decide/routing/removing_filters.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "core/decide/routing/route_kind_key.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr std::size_t kMaxKinds = 256;
/// Of all kinds together, roughly.
constexpr std::size_t kMaxBytes = std::size_t{512} << 20;
constexpr std::size_t kMaxTracedCenters = 100;
constexpr std::size_t kFirstOfEachFilter = 8;

bool has_limits(const RouteRequest& request)
{
    return request.transfer.deadline.has_value() || request.budget.has_value();
}

/// With room for `size` unit types, of which nothing is found yet.
RouteKind empty_kind(const RouteRequest& request, std::size_t size)
{
    RouteKind kind;
    kind.filter.resize(size, RouteKind::kStays);
    kind.own_filter.resize(size);
    kind.knee.resize(size);
    kind.unknown_parts.resize(size);
    kind.is_estimated.resize(size);
    kind.objective.resize(size);
    kind.start_s.resize(size);
    kind.unit_count.resize(size);
    if (has_limits(request)) {
        kind.completion_s.resize(size);
        kind.cost.resize(size);
    }
    return kind;
}

} // namespace

RouteTable::RouteTable(std::shared_ptr<const UnitTypeList> unit_types, RouteKnowledge knowledge,
                       std::shared_ptr<RouteColumns> columns)
    : impl_(std::make_unique<Impl>(std::move(unit_types), std::move(knowledge), std::move(columns)))
{
}

RouteTable::RouteTable(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge)
    : RouteTable(std::make_shared<const UnitTypeList>(unit_types), std::move(knowledge))
{
}

RouteTable::~RouteTable() = default;
RouteTable::RouteTable(RouteTable&&) noexcept = default;
RouteTable& RouteTable::operator=(RouteTable&&) noexcept = default;

void RouteTable::changed(std::size_t unit_type)
{
    impl_->note_change(unit_type);
}

void RouteTable::begin_batch()
{
    impl_->begin_batch();
}

RouteTable::Impl::Impl(std::shared_ptr<const UnitTypeList> list, RouteKnowledge learned,
                       std::shared_ptr<RouteColumns> shared)
    : unit_types(std::move(list)), knowledge(std::move(learned)), columns(std::move(shared)),
      is_marked_(unit_types->size())
{
    if (columns == nullptr || columns->size() != unit_types->size())
        columns = std::make_shared<RouteColumns>(*unit_types, knowledge.estimates);
}

void RouteTable::Impl::note_change(std::size_t unit_type)
{
    changes.push_back(static_cast<std::uint32_t>(unit_type));
    if (!least_.empty()) least_[unit_type].is_known = false;
}

void RouteTable::Impl::begin_batch()
{
    ++batch_;
    // Kinds that have not followed for so long cost less to make anew than the list to keep. Within a batch they must
    // stay: a table of this batch alone, which decides it again, would have them.
    constexpr std::size_t kMinKept = 4096;
    if (changes.size() <= 4 * unit_types->size() + kMinKept) return;
    kinds_.clear();
    changes.clear();
}

PlaceRun RouteTable::Impl::run_of(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type)
{
    PlaceRun run;
    parts_.clear();
    run.knee = kind.knee[unit_type];
    if (kind.known != nullptr) {
        const KnownRunColumn& known = *kind.known;
        for (std::size_t i = 0; i < known.operators.size(); ++i) {
            const OperatorTime& time = known.operators[i]->times[unit_type];
            parts_.push_back({known.part(unit_type, i), time.curve, time.load});
        }
        run.single = known.times[unit_type];
        run.estimated_operators = known.estimated[unit_type];
        run.basis = RawBasis::kReference;
        run.parts = parts_;
        return run;
    }
    double run_s = columns->start_up_s(unit_type);
    double below = 0; // as sum_operators adds them up
    double above = 0;
    for (std::size_t i = 0; i < request.operators.size(); ++i) {
        const OperatorTime& time = kind.operators[i]->times[unit_type];
        const double total_s = static_cast<double>(request.operators[i].count) * time.execution_s;
        const double to_low_s = total_s - total_s / time.spread;
        const double to_high_s = total_s * time.spread - total_s;
        run_s += total_s;
        below += to_low_s * to_low_s;
        above += to_high_s * to_high_s;
        run.unknown_operators += time.basis == PredictionBasis::kUnknown ? 1 : 0;
        run.estimated_operators += time.basis == PredictionBasis::kEstimated ? 1 : 0;
        parts_.push_back({total_s, time.curve, time.load});
    }
    run.single = {run_s, run_s - std::sqrt(below), run_s + std::sqrt(above)};
    run.parts = parts_;
    return run;
}

RouteKind& RouteTable::Impl::kind_of(const RouteRequest& request, PlaceChooser& chooser)
{
    std::string key = kind_key(request);
    auto found = kinds_.find(key);
    if (found == kinds_.end()) {
        forget_oldest();
        found = kinds_.emplace(std::move(key), make_kind(request, chooser)).first;
    }
    RouteKind& kind = found->second;
    kind.last_used = ++uses_;
    follow_changes(request, chooser, kind);
    if (kind.batch != batch_) roughen(request, chooser, kind);
    return kind;
}

void RouteTable::Impl::roughen(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind)
{
    kind.batch = batch_;
    kind.by_start.clear();
    for (std::size_t i = 0; i < kind.is_rough.size(); ++i) {
        const bool is_like_new = kind.is_rough[i] == RouteKind::kRough || kind.is_rough[i] == RouteKind::kQuick;
        if (is_like_new || kind.own_filter[i] != RouteKind::kStays || kind.has_runs_at(i)) continue;
        if (kind.filter[i] != RouteKind::kStays) {
            --kind.removed[kind.filter[i]];
            kind.filter[i] = RouteKind::kStays;
            kind.is_filter_trace_made = false;
        }
        estimate_roughly(request, chooser, kind, i, Neighbours::kLeftOut);
    }
}

std::vector<std::uint8_t> RouteTable::Impl::marks_of_runs(const RouteRequest& request) const
{
    std::vector<std::uint8_t> marks;
    if (!knowledge.runs || request.job_type.empty() || !request.takes_operators) return marks;
    for (const std::string_view id : knowledge.runs->unit_types_with_runs(request.job_type, request.run_owner())) {
        const auto unit_type = columns->index()->find(id);
        if (!unit_type) continue;
        marks.resize(unit_types->size());
        marks[*unit_type] = 1;
    }
    return marks;
}

void RouteTable::Impl::forget_oldest()
{
    constexpr std::size_t kBytesOfPlace = 48;
    const std::size_t bytes = std::max<std::size_t>(unit_types->size(), 1) * kBytesOfPlace;
    const std::size_t most = std::clamp<std::size_t>(kMaxBytes / bytes, 4, kMaxKinds);
    if (kinds_.size() < most) return;
    kinds_.erase(std::min_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) {
        return a.second.last_used < b.second.last_used;
    }));
}

RouteKind RouteTable::Impl::make_kind(const RouteRequest& request, PlaceChooser& chooser)
{
    const std::size_t size = unit_types->size();
    RouteKind kind = empty_kind(request, size);
    const bool has_one_count = request.units.count || request.operators.empty();
    kind.is_exact = !chooser.may_wait() && (has_one_count || !has_limits(request));
    kind.knows_work = !request.operators.empty() || request.transfer.moves_data();
    for (const OperatorDemand& demand : request.operators)
        kind.operators.push_back(columns->find(demand));
    if (request.known_run) kind.known = columns->find(*request.known_run);
    const auto& parts = kind.known != nullptr ? kind.known->operators : kind.operators;
    kind.has_loads = std::any_of(parts.begin(), parts.end(), [](const auto& column) { return column->has_loads; });
    kind.seen_changes = changes.size();
    kind.batch = batch_;
    kind.knows_work = kind.knows_work || has_run_estimate(request, chooser);
    // Explanations show each unit type of a small network; and of a project with a quota it must be known which places
    // would take more than all of that.
    const bool is_rough =
        size > kMaxCandidatesKept && kind.knows_work && !request.operators.empty() && !request.quota.is_limited();
    if (is_rough) {
        kind.is_rough.assign(size, RouteKind::kRough);
        kind.has_runs = marks_of_runs(request);
    }
    const bool has_history = knowledge.runs && !request.job_type.empty();
    const RawPrediction raw{.basis = request.known_run ? RawBasis::kReference : RawBasis::kOperators,
                            .is_of_own_work = !request.takes_operators,
                            .run = nullptr,
                            .known_factor = chooser.known_factor()};
    if (has_history) kind.least_factor = knowledge.runs->least_factor(request.job_type, request.run_owner(), raw);
    set_own_filters(request, kind);
    if (is_rough) {
        estimate_all(request, chooser, kind);
    } else {
        for (std::size_t i = 0; i < size; ++i)
            update(request, chooser, kind, i);
    }
    return kind;
}

/// Whether earlier runs tell how long one of its type takes, at any unit type.
bool RouteTable::Impl::has_run_estimate(const RouteRequest& request, const PlaceChooser& chooser) const
{
    if (!knowledge.runs) return false;
    for (std::size_t i = 0; i < unit_types->size(); ++i) {
        const std::string& id = unit_types->given(i).id.value;
        if (knowledge.runs->estimate(request.job_type, id, request.run_owner(), chooser.asked())) return true;
    }
    return false;
}

std::vector<std::uint8_t> RouteTable::Impl::runners_of(const RouteKind& kind) const
{
    std::vector<std::uint8_t> runners(unit_types->size(), 1);
    std::uint8_t* const runs = runners.data();
    for (const auto& column : kind.operators) {
        const std::uint8_t* const offered = column->is_offered.data();
        for (std::size_t i = 0; i < runners.size(); ++i)
            runs[i] = static_cast<std::uint8_t>(runs[i] & offered[i]);
    }
    return runners;
}

void RouteTable::Impl::set_own_filters(const RouteRequest& request, RouteKind& kind) const
{
    const std::vector<std::uint8_t> runners = runners_of(kind);
    const RemovingFilters filters(request, *unit_types, *columns);
    const std::uint8_t* const runs = runners.data();
    std::uint8_t* const own_filter = kind.own_filter.data();
    for (std::size_t i = 0; i < runners.size(); ++i)
        own_filter[i] = filters.of(i, runs[i] != 0);
}

const Found& RouteTable::Impl::look_at(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                                       std::size_t unit_type)
{
    const auto index = static_cast<std::uint32_t>(unit_type);
    // Deadlines and budgets are a job's own, but most of them decide nothing.
    const auto known = kind.found.find(index);
    if (known != kind.found.end() && chooser.is_within_limits(known->second.limit_use)) return known->second;
    const PlaceRun run = run_of(request, kind, unit_type);
    looked_at_.unit_type = index;
    looked_at_.choice = chooser.choose((*unit_types)[unit_type], run, ChoiceAim::kBest);
    looked_at_.limit_use = chooser.limit_use();
    looked_at_.offers.clear();
    if (!looked_at_.choice.removed_by && !looked_at_.choice.is_beaten) looked_at_.offers = chooser.offers();
    if (known != kind.found.end() || !chooser.is_within_limits(looked_at_.limit_use)) return looked_at_;
    if (kind.found.size() == RouteKind::kMaxFound) kind.found.clear();
    return kind.found.emplace(index, looked_at_).first->second;
}

void RouteTable::Impl::refine(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                              std::size_t unit_type)
{
    if (kind.is_rough_at(unit_type)) update(request, chooser, kind, unit_type);
}

/// Puts the choice at a place into the columns. What removes the place then: `filter`, or what the choice finds.
std::optional<Filter> RouteTable::Impl::bound_place(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                                                    std::size_t unit_type, std::optional<Filter> filter)
{
    const bool is_bound = has_limits(request);
    const PlaceChoice& choice =
        is_bound ? chooser.choose((*unit_types)[unit_type], run_of(request, kind, unit_type), ChoiceAim::kBound)
                 : look_at(request, chooser, kind, unit_type).choice;
    const std::int64_t unknown = kind.knows_work ? choice.unknown_parts : 0;
    kind.unknown_parts[unit_type] = static_cast<std::uint8_t>(std::min<std::int64_t>(unknown, 255));
    kind.is_estimated[unit_type] = choice.estimated_operators > 0 ? 1 : 0;
    kind.start_s[unit_type] = choice.wait_s;
    kind.knee[unit_type] = static_cast<std::int32_t>(std::min<std::int64_t>(choice.knee, std::int64_t{1} << 30));
    kind.unit_count[unit_type] =
        static_cast<std::int32_t>(std::min<std::int64_t>(choice.unit_count, std::int64_t{1} << 30));
    const double least = is_bound ? choice.least_objective : choice.objective;
    kind.objective[unit_type] = kind.knows_work ? least : choice.wait_s;
    if (!kind.cost.empty()) {
        kind.completion_s[unit_type] = choice.least_completion_s;
        kind.cost[unit_type] = choice.least_cost;
    }
    return !filter || choice.removed_by == Filter::kQuota ? choice.removed_by : filter;
}

void RouteTable::Impl::update(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                              std::size_t unit_type)
{
    const std::uint8_t before = kind.filter[unit_type];
    if (!kind.is_rough.empty()) kind.is_rough[unit_type] = 0;
    std::optional<Filter> filter;
    if (kind.own_filter[unit_type] != RouteKind::kStays) filter = static_cast<Filter>(kind.own_filter[unit_type]);
    const bool may_be_beyond_quota = request.quota.is_limited();
    if (!filter || (may_be_beyond_quota && *filter > Filter::kQuota))
        filter = bound_place(request, chooser, kind, unit_type, filter);
    const std::uint8_t now = filter ? static_cast<std::uint8_t>(*filter) : RouteKind::kStays;
    if (filter) kind.objective[unit_type] = Availability::kForEver;
    kind.filter[unit_type] = now;
    if (now == before) return;
    if (before != RouteKind::kStays) --kind.removed[before];
    if (now != RouteKind::kStays) ++kind.removed[now];
    kind.is_filter_trace_made = false;
}

void RouteTable::Impl::follow_changes(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind)
{
    if (kind.seen_changes == changes.size()) return;
    changed_once_.clear();
    for (std::size_t i = kind.seen_changes; i < changes.size(); ++i) {
        if (is_marked_[changes[i]] != 0) continue;
        is_marked_[changes[i]] = 1;
        changed_once_.push_back(changes[i]);
    }
    for (const std::uint32_t unit_type : changed_once_) {
        is_marked_[unit_type] = 0;
        kind.found.erase(unit_type);
        // Without bounds by start a choice would have been made where there is one.
        if (kind.is_rough_at(unit_type) && !kind.is_by_start_at(unit_type))
            estimate_roughly(request, chooser, kind, unit_type, Neighbours::kLeftOut);
        else
            update(request, chooser, kind, unit_type);
    }
    kind.seen_changes = changes.size();
}

const FilterTrace& RouteTable::Impl::filter_trace_of(const RouteRequest& request, RouteKind& kind) const
{
    if (kind.is_filter_trace_made) return kind.filter_trace;
    kind.filter_trace = {};
    kind.removed_first.clear();
    kind.filter_trace.candidates = kind.filter_trace.left = static_cast<std::int64_t>(unit_types->size());
    std::array<FilterStep, kFilterCount> steps;
    std::array<std::uint32_t, kFilterCount> last_center{}; // by its number, of each step
    for (const std::uint32_t unit_type : columns->by_center()) {
        const std::uint8_t number = kind.filter[unit_type];
        if (number == RouteKind::kStays) continue;
        std::vector<TracedCenter>& centers = steps[number].centers;
        const std::uint32_t center = columns->center_rank()[unit_type];
        if (!centers.empty() && last_center[number] == center) {
            ++centers.back().removed;
            continue;
        }
        if (centers.size() >= kMaxTracedCenters) continue;
        if (centers.size() < kFirstOfEachFilter) kind.removed_first.push_back(unit_type);
        last_center[number] = center;
        const UnitTypeView& view = unit_types->given(unit_type);
        centers.push_back({view.center_name, 1, filter_reason(request, view, static_cast<Filter>(number))});
    }
    for (std::size_t number = 0; number < kFilterCount; ++number) {
        if (kind.removed[number] == 0) continue;
        steps[number].filter = static_cast<Filter>(number);
        steps[number].removed = kind.removed[number];
        kind.filter_trace.left -= kind.removed[number];
        kind.filter_trace.steps.push_back(std::move(steps[number]));
    }
    kind.is_filter_trace_made = true;
    return kind.filter_trace;
}

} // namespace fathom
