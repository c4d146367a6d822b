#include "core/decide/routing/route_columns.hpp"

#include "core/base/byte_key.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/measurement/operator_size.hpp"
#include "core/decide/routing/route_filter.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace fathom {
namespace {

/// Of all columns together, roughly; but never fewer than a job has operators.
constexpr std::size_t kMaxColumnBytes = std::size_t{512} << 20;
constexpr std::size_t kMinColumns = 64;

} // namespace

void add_size(std::string& key, const OperatorDemand& demand)
{
    byte_key::add(key, demand.operator_id);
    byte_key::add(key, demand.parameters_key);
    byte_key::add(key, demand.operations);
    byte_key::add(key, demand.bytes);
}

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

RouteColumns::RouteColumns(UnitTypeList unit_types, std::shared_ptr<const OperatorEstimates> estimates)
    : unit_types_(std::move(unit_types)), estimates_(std::move(estimates)), id_rank_(size()), by_center_(size())
{
    std::vector<std::uint32_t> by_id(size());
    std::iota(by_id.begin(), by_id.end(), 0U);
    by_center_ = by_id;
    std::sort(by_id.begin(), by_id.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(unit_types_[a].id, a) < std::tie(unit_types_[b].id, b);
    });
    for (std::size_t rank = 0; rank < by_id.size(); ++rank)
        id_rank_[by_id[rank]] = static_cast<std::uint32_t>(rank);
    std::sort(by_center_.begin(), by_center_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(unit_types_[a].center_name, unit_types_[a].name, unit_types_[a].id) <
               std::tie(unit_types_[b].center_name, unit_types_[b].name, unit_types_[b].id);
    });
}

const std::shared_ptr<const UnitTypeIndex>& RouteColumns::index()
{
    if (index_ == nullptr) index_ = std::make_shared<const UnitTypeIndex>(unit_types_);
    return index_;
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
        const std::size_t bytes = (sizeof(OperatorTime) + 2 * sizeof(double)) * std::max<std::size_t>(size(), 1);
        if (columns_.size() >= std::max(kMaxColumnBytes / bytes, kMinColumns))
            columns_.erase(std::min_element(columns_.begin(), columns_.end(), [](const auto& a, const auto& b) {
                return a.second.last_used < b.second.last_used;
            }));
        found = columns_.emplace(std::move(key), Kept{make(demand)}).first;
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

const std::vector<std::uint8_t>& RouteColumns::offers(const std::string& operator_id)
{
    const auto [known, is_new] = offers_.try_emplace(operator_id);
    std::vector<std::uint8_t>& offers = known->second;
    if (!is_new) return offers;
    offers.reserve(size());
    for (const UnitTypeView& view : unit_types_)
        offers.push_back(has_operator(view, operator_id) ? 1 : 0);
    return offers;
}

/// Of lists in order of operators, all measurements of this one; of others all there are.
const std::vector<RouteColumns::MeasuredRange>& RouteColumns::ranges_of(const std::string& operator_id)
{
    const auto [known, is_new] = ranges_.try_emplace(operator_id);
    std::vector<MeasuredRange>& ranges = known->second;
    if (!is_new) return ranges;
    ranges.reserve(size());
    const auto is_before = [](const MeasuredOperator& a, const MeasuredOperator& b) {
        return a.operator_id < b.operator_id;
    };
    if (is_sorted_.empty()) {
        is_sorted_.reserve(size());
        for (const UnitTypeView& view : unit_types_)
            is_sorted_.push_back(std::is_sorted(view.measured.begin(), view.measured.end(), is_before) ? 1 : 0);
    }
    for (std::size_t i = 0; i < size(); ++i) {
        const std::span<const MeasuredOperator> all = unit_types_[i].measured;
        auto first = all.begin();
        auto last = all.end();
        if (is_sorted_[i] != 0) {
            first =
                std::lower_bound(all.begin(), all.end(), operator_id,
                                 [](const MeasuredOperator& a, const std::string& id) { return a.operator_id < id; });
            last =
                std::find_if(first, all.end(), [&](const MeasuredOperator& a) { return a.operator_id != operator_id; });
        }
        ranges.push_back({static_cast<std::uint32_t>(first - all.begin()), static_cast<std::uint32_t>(last - first)});
    }
    return ranges;
}

std::span<const MeasuredOperator> RouteColumns::measured_in(std::size_t unit_type, const MeasuredRange& range) const
{
    return std::span<const MeasuredOperator>(unit_types_[unit_type].measured).subspan(range.first, range.count);
}

std::shared_ptr<const OperatorColumn> RouteColumns::make(const OperatorDemand& demand)
{
    const std::vector<std::uint8_t>& offered = offers(demand.operator_id);
    auto column = std::make_shared<OperatorColumn>();
    column->times.resize(size());
    column->least_s.resize(size());
    column->least_unit_s.resize(size());
    const std::vector<MeasuredRange>& ranges = ranges_of(demand.operator_id);
    const double work = size_work(demand.operations, demand.bytes);
    for (std::size_t i = 0; i < size(); ++i) {
        const UnitTypeView& view = unit_types_[i];
        const ExecutionTime one = execution_time(demand, measured_in(i, ranges[i]), {estimates_.get(), view.id.value});
        OperatorTime& time = column->times[i];
        time.execution_s = one.execution_s;
        const double high_s = one.execution_s * portable::exp(kWidthOf80Percent * one.deviation);
        time.spread = one.execution_s > 0 ? high_s / one.execution_s : 1;
        time.curve = find_speedup(view.speedups.get(), demand.operator_id, demand.parameters_key, work);
        time.basis = one.basis;
        time.is_offered = offered[i] != 0;
        column->least_s[i] = time.execution_s * (time.curve == nullptr ? 1 : 1 - time.curve->most_saved());
        column->least_unit_s[i] = time.execution_s / (time.curve == nullptr ? 1 : time.curve->best_efficiency());
    }
    return column;
}

const std::vector<Timestamp>& RouteColumns::measured_at(const std::string& operator_id,
                                                        const std::string& parameters_key)
{
    const auto [known, is_new] = measured_at_.try_emplace({operator_id, parameters_key});
    std::vector<Timestamp>& times = known->second;
    if (!is_new) return times;
    times.assign(size(), Timestamp::min());
    const std::vector<MeasuredRange>& ranges = ranges_of(operator_id);
    for (std::size_t i = 0; i < size(); ++i) {
        for (const MeasuredOperator& one : measured_in(i, ranges[i])) {
            if (one.operator_id == operator_id && one.parameters_key == parameters_key)
                times[i] = std::max(times[i], one.measured_at);
        }
    }
    return times;
}

} // namespace fathom
