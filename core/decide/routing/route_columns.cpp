#include "core/decide/routing/route_columns.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/routing/route_filter.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace fathom {
namespace {

bool have_same_names(const UnitTypeList& a, const UnitTypeList& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const UnitTypeView& x, const UnitTypeView& y) {
        return x.id == y.id && x.name == y.name && x.center_name == y.center_name;
    });
}

/// Lists are shared from catalog to catalog while they are the same.
bool have_same_lists(const UnitTypeView& a, const UnitTypeView& b)
{
    return a.measured.data() == b.measured.data() && a.speedups == b.speedups && a.loads == b.loads &&
           a.operators.data() == b.operators.data();
}

bool is_of_measurements(PredictionBasis basis)
{
    return basis != PredictionBasis::kEstimated && basis != PredictionBasis::kUnknown;
}

std::int64_t idle_units_of(const UnitTypeView& view)
{
    if (!view.holds.empty()) return 0;
    std::int64_t least = view.availability.free_now();
    for (const Availability::Step& step : view.availability.steps())
        least = std::min(least, step.free);
    return std::max<std::int64_t>(least, 0);
}

Timestamp newest_of(std::span<const MeasuredOperator> measured, const std::string& operator_id,
                    const std::string& parameters_key)
{
    Timestamp newest = Timestamp::min();
    for (const MeasuredOperator& one : measured) {
        if (one.operator_id == operator_id && one.parameters_key == parameters_key)
            newest = std::max(newest, one.measured_at);
    }
    return newest;
}

/// Of all columns together, roughly; but never fewer than a job has operators.
constexpr std::size_t kMaxColumnBytes = std::size_t{512} << 20;
constexpr std::size_t kMinColumns = 64;

} // namespace

double speed_of(const UnitTypeView& view)
{
    double sum = 0;
    std::int64_t count = 0;
    for (const MeasuredOperator& one : view.measured) {
        const double work = one.operations > 0 ? one.operations : one.bytes;
        if (work <= 0 || one.median_s <= 0) continue;
        sum += portable::log(work / one.median_s);
        ++count;
    }
    return count > 0 ? portable::exp(sum / static_cast<double>(count)) : 0;
}

UnitMeasurements units_of(const UnitTypeView& view)
{
    return {.operators = view.measured, .cores = view.cores_per_unit, .one_core = view.one_core};
}

RouteColumns::RouteColumns(const UnitTypeList& unit_types, std::shared_ptr<const OperatorEstimates> estimates,
                           RouteColumns* before)
    : unit_types_(unit_types.given()), facts_(unit_types_.begin(), unit_types_.end()), estimates_(std::move(estimates)),
      changed_at_(size())
{
    fact_columns_.resize(size());
    for (std::size_t i = 0; i < size(); ++i)
        fact_columns_.set(i, facts_[i]);
    idle_units_.reserve(size());
    for (const UnitTypeView& view : unit_types_)
        idle_units_.push_back(idle_units_of(view));
    if (before != nullptr) {
        generation_ = before->generation_ + 1;
        estimates_since_ = estimates_ == before->estimates_ ? before->estimates_since_ : generation_;
        uses_ = before->uses_;
        input_texts_ = std::exchange(before->input_texts_, {});
        input_texts_.forget_unused();
        if (have_same_names(before->unit_types_, unit_types_)) {
            take_over(*before);
            return;
        }
        move_columns(*before);
    }
    order_ = UnitTypeOrder(unit_types_);
}

void RouteColumns::set_facts(std::size_t unit_type, const UnitTypeFacts& facts)
{
    facts_[unit_type] = facts;
    fact_columns_.set(unit_type, facts);
    otherwise_.push_back(static_cast<std::uint32_t>(unit_type));
    if (groups_ == nullptr) return;
    auto groups = std::make_shared<FactGroups>(*groups_); // copies share them
    groups->set(unit_type, facts);
    groups_ = std::move(groups);
}

const PriceHours& RouteColumns::price_hours(Timestamp now, bool has_all)
{
    if (!price_hours_.is_of(now)) price_hours_ = PriceHours(unit_types_, now);
    if (has_all) price_hours_.make_all(unit_types_);
    for (const std::uint32_t unit_type : otherwise_)
        price_hours_.set(unit_type, facts_[unit_type].least_cost_per_s);
    return price_hours_;
}

const NetworkHours& RouteColumns::network_hours(Timestamp now)
{
    if (network_hours_ == nullptr || !network_hours_->is_of(now))
        network_hours_ = std::make_shared<const NetworkHours>(unit_types_, order_, now);
    return *network_hours_;
}

void RouteColumns::take_over(RouteColumns& before)
{
    changed_at_ = before.changed_at_;
    order_ = before.order_;
    columns_ = std::exchange(before.columns_, {});
    start_up_s_ = before.start_up_s_;
    speeds_ = before.speeds_;
    table_ = before.table_;
    table_generation_ = before.table_generation_;
    is_sorted_ = before.is_sorted_;
    ranges_ = std::exchange(before.ranges_, {});
    measured_at_ = std::exchange(before.measured_at_, {});
    offers_ = std::exchange(before.offers_, {});
    for (std::size_t i = 0; i < size(); ++i) {
        const UnitTypeView& view = unit_types_[i];
        if (have_same_lists(view, before.unit_types_[i])) continue;
        changed_at_[i] = generation_;
        if (!start_up_s_.empty()) start_up_s_[i] = median_start_up(view.measured);
        if (!speeds_.empty()) speeds_[i] = speed_of(view);
        if (!is_sorted_.empty()) is_sorted_[i] = is_sorted_by_operator(view.measured) ? 1 : 0;
        for (auto& [operator_id, ranges] : ranges_)
            ranges[i] = range_of(i, operator_id);
        for (auto& [operator_id, offers] : offers_)
            offers[i] = has_operator(view, operator_id) ? 1 : 0;
    }
    const auto newer = std::count_if(changed_at_.begin(), changed_at_.end(),
                                     [this](std::uint64_t changed) { return changed > table_generation_; });
    // Then it saves little: it is made anew when it is next asked for.
    if (static_cast<std::size_t>(newer) > size() / 4) table_.reset();
}

void RouteColumns::move_columns(RouteColumns& before)
{
    std::unordered_map<std::string_view, std::uint32_t> places;
    for (std::uint32_t i = 0; i < before.size(); ++i)
        places.emplace(before.unit_types_[i].id.value, i);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> moved; // where it is, and where it was
    for (std::uint32_t i = 0; i < size(); ++i) {
        const auto found = places.find(unit_types_[i].id.value);
        const bool is_same =
            found != places.end() && have_same_lists(unit_types_[i], before.unit_types_[found->second]);
        changed_at_[i] = is_same ? before.changed_at_[found->second] : generation_;
        if (is_same) moved.emplace_back(i, found->second);
    }
    for (auto& [key, kept] : std::exchange(before.columns_, {})) {
        auto column = std::make_shared<OperatorColumn>(size());
        for (const auto& [to, from] : moved)
            column->take(to, *kept.column, from);
        columns_.emplace(key, Kept{kept.demand, std::move(column), kept.generation, kept.last_used});
    }
}

const std::shared_ptr<const UnitTypeIndex>& RouteColumns::index()
{
    if (index_ == nullptr) index_ = std::make_shared<const UnitTypeIndex>(unit_types_);
    return index_;
}

const FactGroups& RouteColumns::fact_groups()
{
    if (groups_ == nullptr) groups_ = std::make_shared<const FactGroups>(facts_);
    return *groups_;
}

double RouteColumns::start_up_s(std::size_t unit_type)
{
    if (start_up_s_.empty()) {
        start_up_s_.reserve(size());
        for (const UnitTypeView& view : unit_types_)
            start_up_s_.push_back(median_start_up(view.measured));
    }
    return start_up_s_[unit_type];
}

double RouteColumns::speed(std::size_t unit_type)
{
    if (speeds_.empty()) {
        speeds_.reserve(size());
        for (const UnitTypeView& view : unit_types_)
            speeds_.push_back(speed_of(view));
    }
    return speeds_[unit_type];
}

std::shared_ptr<const OperatorColumn> RouteColumns::find(const OperatorDemand& demand)
{
    std::string key;
    add_size(key, demand);
    auto found = columns_.find(key);
    if (found == columns_.end()) {
        if (columns_.size() >= most_columns())
            columns_.erase(std::min_element(columns_.begin(), columns_.end(), [](const auto& a, const auto& b) {
                return a.second.last_used < b.second.last_used;
            }));
        Kept kept{demand, std::make_shared<OperatorColumn>(size())};
        renew(kept, true);
        found = columns_.emplace(std::move(key), std::move(kept)).first;
    } else if (found->second.generation != generation_) {
        renew(found->second, false);
    }
    found->second.last_used = ++uses_;
    return found->second.column;
}

std::shared_ptr<const KnownRunColumn> RouteColumns::find(const KnownRun& known)
{
    const auto found = known_runs_.find(known.job_id);
    if (found != known_runs_.end()) return found->second;
    const std::size_t bytes =
        (sizeof(RunTime) + known.operators.size() * sizeof(double)) * std::max<std::size_t>(size(), 1);
    if (known_runs_.size() >= std::max(kMaxColumnBytes / bytes, kMinColumns)) known_runs_.clear();
    auto column = std::make_shared<KnownRunColumn>();
    for (const OperatorDemand& demand : known.operators)
        column->operators.push_back(find(demand));
    column->times.reserve(size());
    column->parts.reserve(size() * known.operators.size());
    for (const UnitTypeView& view : unit_types_) {
        const RunPrediction run =
            predict_run({known.operators, &known, units_of(view), {estimates_.get(), view.id.value}});
        column->times.push_back({run.run_s, run.low_s, run.high_s});
        for (const OperatorPrediction& part : run.operators)
            column->parts.push_back(part.total_s);
        column->estimated.push_back(static_cast<std::uint8_t>(std::min<std::int64_t>(run.estimated_operators, 255)));
    }
    return known_runs_[known.job_id] = std::move(column);
}

const OperatorTable& RouteColumns::table()
{
    if (table_ == nullptr) {
        table_ = std::make_shared<const OperatorTable>(unit_types_);
        table_generation_ = generation_;
        is_sorted_.resize(size());
        for (std::size_t i = 0; i < size(); ++i)
            is_sorted_[i] = table_->has_measured(i) ? 1 : 0;
    }
    return *table_;
}

const std::vector<std::uint8_t>& RouteColumns::offers(const std::string& operator_id)
{
    const auto known = offers_.find(operator_id);
    if (known != offers_.end()) return known->second;
    const OperatorTable& known_lists = table();
    std::vector<std::uint8_t> offers(size());
    for (const std::uint32_t unit_type : known_lists.offering(offered_id(operator_id)))
        offers[unit_type] = 1;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!known_lists.has_offered(i) || is_newer_than_table(i))
            offers[i] = has_operator(unit_types_[i], operator_id) ? 1 : 0;
    }
    return offers_[operator_id] = std::move(offers);
}

/// Of lists in order of operators, all measurements of this one; of others all there are.
RouteColumns::MeasuredRange RouteColumns::range_of(std::size_t unit_type, const std::string& operator_id) const
{
    const std::span<const MeasuredOperator> all = unit_types_[unit_type].measured;
    if (is_sorted_.empty() || is_sorted_[unit_type] == 0) return {0, static_cast<std::uint32_t>(all.size())};
    const auto first =
        std::lower_bound(all.begin(), all.end(), operator_id,
                         [](const MeasuredOperator& a, const std::string& id) { return a.operator_id < id; });
    const auto last =
        std::find_if(first, all.end(), [&](const MeasuredOperator& a) { return a.operator_id != operator_id; });
    return {static_cast<std::uint32_t>(first - all.begin()), static_cast<std::uint32_t>(last - first)};
}

const std::vector<RouteColumns::MeasuredRange>& RouteColumns::ranges_of(const std::string& operator_id)
{
    const auto known = ranges_.find(operator_id);
    if (known != ranges_.end()) return known->second;
    const OperatorTable& known_lists = table();
    std::vector<MeasuredRange> ranges(size());
    for (const OperatorTable::Measured& one : known_lists.measured(operator_id))
        ranges[one.unit_type] = {one.first, one.count};
    for (std::size_t i = 0; i < size(); ++i) {
        if (!known_lists.has_measured(i) || is_newer_than_table(i)) ranges[i] = range_of(i, operator_id);
    }
    return ranges_[operator_id] = std::move(ranges);
}

std::span<const MeasuredOperator> RouteColumns::measured_in(std::size_t unit_type, const MeasuredRange& range) const
{
    return std::span<const MeasuredOperator>(unit_types_[unit_type].measured).subspan(range.first, range.count);
}

std::size_t RouteColumns::most_columns() const
{
    const std::size_t bytes = OperatorColumn::kBytes * std::max<std::size_t>(size(), 1);
    return std::max(kMaxColumnBytes / bytes, kMinColumns);
}

void RouteColumns::renew(Kept& kept, bool is_new)
{
    const OperatorDemand& demand = kept.demand;
    const std::vector<std::uint8_t>& offered = offers(demand.operator_id);
    const std::vector<MeasuredRange>& ranges = ranges_of(demand.operator_id);
    // Somebody may look at it still.
    if (kept.column.use_count() > 1) kept.column = std::make_shared<OperatorColumn>(*kept.column);
    OperatorColumn& column = *kept.column;
    const bool has_new_estimates = kept.generation < estimates_since_;
    column.is_offered = offered;
    for (std::size_t i = 0; i < size(); ++i) {
        const bool is_of_others = has_new_estimates && !is_of_measurements(column.times[i].basis);
        if (is_new || is_of_others || changed_at_[i] > kept.generation)
            set_time(demand, column, i, measured_in(i, ranges[i]));
    }
    kept.generation = generation_;
}

void RouteColumns::set_time(const OperatorDemand& demand, OperatorColumn& column, std::size_t unit_type,
                            std::span<const MeasuredOperator> measured) const
{
    const UnitTypeView& view = unit_types_[unit_type];
    column.set(unit_type, demand, view, execution_time(demand, measured, {estimates_.get(), view.id.value}));
}

const std::vector<Timestamp>& RouteColumns::measured_at(const std::string& operator_id,
                                                        const std::string& parameters_key)
{
    const std::pair size_key{operator_id, parameters_key};
    auto known = measured_at_.find(size_key);
    const bool is_known = known != measured_at_.end();
    if (is_known && known->second.generation == generation_) return known->second.times;
    const std::vector<MeasuredRange>& ranges = ranges_of(operator_id);
    KeptTimes kept = is_known ? std::move(known->second) : KeptTimes{std::vector<Timestamp>(size())};
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_known || changed_at_[i] > kept.generation)
            kept.times[i] = newest_of(measured_in(i, ranges[i]), operator_id, parameters_key);
    }
    kept.generation = generation_;
    // Jobs name sizes as they like: what is kept of them is bounded.
    const std::size_t bytes = sizeof(Timestamp) * std::max<std::size_t>(size(), 1);
    if (!is_known && measured_at_.size() >= std::max(kMaxColumnBytes / bytes, kMinColumns)) measured_at_.clear();
    return (measured_at_[size_key] = std::move(kept)).times;
}

} // namespace fathom
