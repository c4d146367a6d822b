#include "core/decide/queue/wait_queue_state.hpp"

#include "core/base/never.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/queue/order_index.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/queue/rank_line.hpp"
#include "core/decide/queue/unit_releases.hpp"
#include "core/decide/queue/wait_queue.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Puts the options in the order of their unit types, those of one type as they were.
void sort_options(QueuePlaces& places)
{
    const JobOptions& options = places.as_given;
    places.options = options;
    const auto by_type = [](const JobOption& a, const JobOption& b) { return a.unit_type < b.unit_type; };
    if (std::is_sorted(options.begin(), options.end(), by_type)) return;
    places.given.resize(options.size());
    std::iota(places.given.begin(), places.given.end(), std::uint32_t{0});
    std::sort(places.given.begin(), places.given.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(options[a].unit_type, a) < std::tie(options[b].unit_type, b);
    });
    std::vector<JobOption> sorted;
    sorted.reserve(options.size());
    for (const std::uint32_t option : places.given)
        sorted.push_back(options[option]);
    places.options = std::move(sorted);
}

} // namespace

WaitQueueState::WaitQueueState(const OrderSettings& settings, std::span<const std::int64_t> unit_counts)
    : settings_(settings), unit_types_(unit_counts.size()), starvation_limit_shares_(unit_counts.size(), 0),
      releases_(unit_counts.size()), lines_(unit_counts.size()), free_(unit_counts.size()),
      is_opened_(unit_counts.size(), 0)
{
    for (std::size_t type = 0; type < unit_counts.size(); ++type)
        unit_types_[type].unit_count = unit_counts[type];
}

std::uint32_t WaitQueueState::add(QueuedJob job)
{
    if (waiting_.empty()) reprice(); // else all that come now would be weighed twice
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(entries_.size()));
        entries_.emplace_back();
        places_.emplace_back();
    }
    const std::uint32_t number = unused_.back();
    unused_.pop_back();
    places_[number] = static_cast<std::uint32_t>(waiting_.size());
    waiting_.push_back(number);

    QueueEntry& entry = entries_[number];
    entry.job = std::move(job);
    entry.is_overdue = entry.is_held = entry.is_done = false;
    entry.places = places_of(std::exchange(entry.job.options, {}));
    entry.weight = weight_of(entry);
    if (entry.job.latest_start_s) hurried_.insert(number);
    if (entry.has_gang()) {
        add_to_gang(number);
        return number;
    }
    if (!entry.has_place()) return number;
    line_up(number);
    if (settings_.rule == OrderRule::kFirstCome)
        stand_overdue(number, entry.job.since_s);
    else
        dues_.push({due_s(entry), number, entry.generation});
    return number;
}

void WaitQueueState::remove(std::uint32_t job)
{
    QueueEntry& entry = entries_[job];
    leave_line(entry);
    leave_order(job);
    leave_overdue(job);
    if (entry.has_gang()) remove_from_gang(job);
    if (entry.job.latest_start_s) hurried_.erase(job);
    forget_places(entry);
    ++entry.generation;
    unused_.push_back(job);
    const std::uint32_t place = places_[job];
    waiting_[place] = waiting_.back();
    places_[waiting_[place]] = place;
    waiting_.pop_back();
}

void WaitQueueState::set_fair_load(std::uint32_t job, double fair_load)
{
    QueueEntry& entry = entries_[job];
    if (entry.job.fair_load == fair_load) return;
    entry.job.fair_load = fair_load;
    entry.weight = weight_of(entry);
    if (!entry.has_gang()) line_up(job);
}

void WaitQueueState::set_free(std::size_t unit_type, std::int64_t units, double free_for_s)
{
    const bool is_more = units > free_.count(unit_type) || free_for_s > free_.free_for_s(unit_type);
    free_.set(unit_type, units, free_for_s);
    if (!is_more || is_opened_[unit_type] != 0) return;
    is_opened_[unit_type] = 1;
    opened_.push_back(static_cast<std::uint32_t>(unit_type));
}

void WaitQueueState::set_shadow_price(std::size_t unit_type, double shadow_price)
{
    if (unit_types_[unit_type].shadow_price == shadow_price) return;
    unit_types_[unit_type].shadow_price = shadow_price;
    prices_ = Prices::kNewShadowPrices;
}

void WaitQueueState::set_load(std::size_t unit_type, double load)
{
    if (unit_types_[unit_type].load == load) return;
    unit_types_[unit_type].load = load;
    prices_ = std::max(prices_, Prices::kNewLoads);
}

void WaitQueueState::take(const std::vector<OrderedStart>& starts, bool has_backfill_reservation)
{
    for (const OrderedStart& start : starts)
        free_.take(start.place);
    for (const std::uint32_t type : opened_)
        is_opened_[type] = 0;
    opened_.clear();
    had_backfill_reservation_ = has_backfill_reservation;
    ++decisions_;
}

WaitQueueState::Expected WaitQueueState::expected(const QueueEntry& entry, std::uint32_t option) const
{
    const QueuePlaces& places = *entry.places;
    const JobOption& place = places.options[option];
    const std::size_t type = place.unit_type;
    if (places.base[option] == kNever || unit_types_[type].load >= 1) return {};
    // All that suit it best and whose priority rank is smaller have units before it.
    const std::int64_t missing = lines_[type].units_before(entry.rank) + place.unit_count - free_.count(type);
    if (missing <= 0) return {};
    const std::optional<FreedUnits> freed = releases_[type].when(missing, now_s_);
    if (!freed || freed->in_s <= 0) return {};
    // Of the jobs that will come meanwhile, some will go before it; the fewer the emptier the network is.
    return {freed->in_s / starvation_limit_shares_[type] + places.cost[option], freed->in_s};
}

/// Those of the list, known already where jobs in the queue share it.
std::shared_ptr<QueuePlaces> WaitQueueState::places_of(const JobOptions& options)
{
    std::shared_ptr<QueuePlaces> own; // NOLINT(misc-const-correctness): `known` may name it, and is written to
    std::shared_ptr<QueuePlaces>& known = options.is_shared() ? shared_places_[options.list()] : own;
    if (known == nullptr) {
        known = std::make_shared<QueuePlaces>();
        known->as_given = options;
        sort_options(*known);
        weigh(*known);
    }
    return known;
}

void WaitQueueState::forget_places(QueueEntry& entry)
{
    constexpr long kInMapAndEntry = 2;
    const auto known = shared_places_.find(entry.places->as_given.list());
    if (known != shared_places_.end() && known->second.use_count() == kInMapAndEntry) shared_places_.erase(known);
    entry.places = nullptr;
}

void WaitQueueState::weigh(QueuePlaces& places)
{
    const JobOptions& options = places.options;
    places.base.resize(options.size());
    places.shortest_s = weigh_places(options, unit_types_, settings_, places.base);
    const auto best = std::min_element(places.base.begin(), places.base.end());
    const bool has_best = best != places.base.end() && *best < kNever;
    places.best = has_best ? static_cast<std::uint32_t>(best - places.base.begin()) : kNoOption;
    places.fewest_units = std::numeric_limits<std::int64_t>::max();
    for (const JobOption& option : options)
        places.fewest_units = std::min(places.fewest_units, std::max<std::int64_t>(option.unit_count, 1));
    set_costs(places);
}

void WaitQueueState::set_costs(QueuePlaces& places)
{
    places.priced = pricing_;
    places.wanted_at = QueuePlaces::kNotYet;
    if (!weighs_places(settings_.rule)) {
        places.cost = places.base;
        return;
    }
    const JobOptions& options = places.options;
    places.cost.resize(options.size());
    for (std::size_t i = 0; i < options.size(); ++i)
        places.cost[i] = places.base[i] == kNever
                             ? kNever
                             : place_cost(options[i], unit_types_[options[i].unit_type], places.fewest_units);
}

double WaitQueueState::weight_of(const QueueEntry& entry) const
{
    std::optional<double> latest_start_s = entry.job.latest_start_s;
    if (latest_start_s) *latest_start_s -= now_s_;
    return own_weight(entry.job.fair_load, entry.job.priority, latest_start_s, entry.places->shortest_s);
}

double WaitQueueState::due_s(const QueueEntry& entry) const
{
    return entry.job.since_s + starvation_limit_of(settings_, entry.places->shortest_s);
}

/// Puts the job where it belongs now by its weight.
void WaitQueueState::line_up(std::uint32_t job)
{
    QueueEntry& entry = entries_[job];
    const bool has_place = entry.has_place() && !entry.is_held;
    if (has_place && weighs_places(settings_.rule))
        stand_in_line(entry);
    else
        leave_line(entry);
    if (has_place && !entry.is_overdue && settings_.rule != OrderRule::kFirstCome)
        stand_in_order(job);
    else
        leave_order(job);
}

void WaitQueueState::stand_in_line(QueueEntry& entry)
{
    const PriorityRank rank{entry.is_overdue ? -1 : entry.index(entry.places->best), entry.job.key};
    if (entry.is_in_line && entry.rank == rank) return;
    leave_line(entry);
    const JobOption& best = entry.option(entry.places->best);
    lines_[best.unit_type].add(rank, best.unit_count);
    entry.rank = rank;
    entry.line = best.unit_type;
    entry.is_in_line = true;
}

void WaitQueueState::stand_in_order(std::uint32_t job)
{
    QueueEntry& entry = entries_[job];
    by_index_.stand(entry.by_index, entry.index(entry.places->best), entry.job.key, job);
}

void WaitQueueState::leave_order(std::uint32_t job)
{
    QueueEntry& entry = entries_[job];
    by_index_.leave(entry.by_index, entry.job.key, job);
}

void WaitQueueState::leave_line(QueueEntry& entry)
{
    if (!entry.is_in_line) return;
    lines_[entry.line].remove(entry.rank);
    entry.is_in_line = false;
}

void WaitQueueState::stand_overdue(std::uint32_t job, double order_s)
{
    QueueEntry& entry = entries_[job];
    overdue_.stand(entry.overdue, order_s, entry.job.key, job);
}

void WaitQueueState::leave_overdue(std::uint32_t job)
{
    QueueEntry& entry = entries_[job];
    overdue_.leave(entry.overdue, entry.job.key, job);
}

void WaitQueueState::bring_up_to(double now_s)
{
    now_s_ = now_s;
    reprice();
    for (const std::uint32_t job : hurried_) {
        QueueEntry& entry = entries_[job];
        entry.weight = weight_of(entry);
        if (!entry.has_gang()) line_up(job);
    }
    let_starvation_limits_pass();
    for (const auto& [name, members] : gangs_)
        align_gang(members);
}

void WaitQueueState::reprice()
{
    if (prices_ == Prices::kKnown) return;
    has_room_ = false;
    for (std::size_t type = 0; type < unit_types_.size(); ++type) {
        const double load = unit_types_[type].load;
        const double idle = 1 - std::clamp(load, 0.0, 1.0);
        starvation_limit_shares_[type] =
            settings_.wait_stretch == 0.5 ? std::sqrt(idle) : portable::pow(idle, settings_.wait_stretch);
        has_room_ = has_room_ || (weighs_places(settings_.rule) && load < 1);
    }
    ++pricing_;
    if (prices_ == Prices::kNewLoads) {
        for (const std::uint32_t job : waiting_) {
            if (entries_[job].places->priced != pricing_) set_costs(*entries_[job].places);
        }
    } else {
        weigh_all();
    }
    prices_ = Prices::kKnown;
}

/// All lines are made anew: taking jobs out of long ones one by one would take longer than all the rest.
void WaitQueueState::weigh_all()
{
    for (RankLine& line : lines_)
        line.clear();
    for (const std::uint32_t job : waiting_) {
        QueueEntry& entry = entries_[job];
        entry.is_in_line = false;
        if (entry.places->priced != pricing_) weigh(*entry.places);
        if (!entry.has_gang()) line_up(job);
    }
}

void WaitQueueState::let_starvation_limits_pass()
{
    while (!dues_.empty() && dues_.top().at_s <= now_s_) {
        const Due due = dues_.top();
        dues_.pop();
        QueueEntry& entry = entries_[due.job];
        if (entry.generation != due.generation) continue;
        entry.is_overdue = true;
        stand_overdue(due.job, due.at_s);
        line_up(due.job);
    }
}

void WaitQueueState::add_to_gang(std::uint32_t job)
{
    std::vector<std::uint32_t>& members = gangs_[entries_[job].job.gang];
    const auto by_key = [this](std::uint32_t a, std::uint32_t b) { return entries_[a].job.key < entries_[b].job.key; };
    members.insert(std::upper_bound(members.begin(), members.end(), job, by_key), job);
}

void WaitQueueState::remove_from_gang(std::uint32_t job)
{
    const auto gang = gangs_.find(entries_[job].job.gang);
    std::erase(gang->second, job);
    if (gang->second.empty()) gangs_.erase(gang);
}

WaitQueueState::GangFigures WaitQueueState::figures_of(const std::vector<std::uint32_t>& members) const
{
    GangFigures gang{.mean_index = 0, .due_s = kNever, .since_s = kNever};
    for (const std::uint32_t member : members) {
        const QueueEntry& own = entries_[member];
        const double best = own.has_place() ? weight_of(own) * own.places->base[own.places->best] : kNever;
        gang.mean_index += best / static_cast<double>(members.size());
        if (own.has_place()) gang.due_s = std::min(gang.due_s, due_s(own));
        gang.since_s = std::min(gang.since_s, own.job.since_s);
    }
    return gang;
}

/// A gang starts together, so all its members weigh alike, as order_indices() has it, and have one priority rank.
void WaitQueueState::align_gang(const std::vector<std::uint32_t>& members)
{
    const GangFigures gang = figures_of(members);
    const bool is_complete = std::ssize(members) >= entries_[members.front()].job.gang_size;
    const bool is_held = !is_complete || gang.mean_index == kNever;
    const bool is_first_come = settings_.rule == OrderRule::kFirstCome;
    const bool is_overdue = !is_first_come && gang.due_s <= now_s_;
    const bool goes_first = !is_held && (is_overdue || is_first_come);
    for (const std::uint32_t member : members) {
        QueueEntry& own = entries_[member];
        own.is_held = is_held;
        own.is_overdue = is_overdue;
        own.weight = weight_of(own);
        const double best = own.has_place() ? own.index(own.places->best) : kNever;
        if (!own.is_held && best > 0) own.weight *= gang.mean_index / best;
        line_up(member);
        if (goes_first)
            stand_overdue(member, is_first_come ? gang.since_s : gang.due_s);
        else
            leave_overdue(member);
    }
}

} // namespace fathom
