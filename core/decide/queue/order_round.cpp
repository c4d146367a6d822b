#include "core/decide/queue/order_round.hpp"

#include "core/base/never.hpp"
#include "core/decide/queue/assign_free.hpp"
#include "core/decide/queue/free_units.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/queue/unit_releases.hpp"
#include "core/decide/queue/wait_queue.hpp"
#include "core/decide/queue/wait_queue_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// With so few open unit types, a job's places there are looked up; with more, all its places are gone through.
constexpr std::size_t kFewTypes = 6;

} // namespace

const std::vector<OrderedStart>& OrderRound::run(double now_s)
{
    now_s_ = now_s;
    begin();
    if (!open_types_.empty()) {
        const bool is_first_come = queue_->settings().rule == OrderRule::kFirstCome;
        start_overdue(is_first_come ? IfNoneFits::kGoOn : IfNoneFits::kReserveUnits);
        if (queue_->settings().rule == OrderRule::kMinCostAssignment) start_assigned();
        if (!is_first_come) start_by_index();
    }
    for (const std::uint32_t job : done_)
        queue_->entry(job).is_done = false;
    return starts_;
}

void OrderRound::begin()
{
    free_ = queue_->free();
    has_backfill_reservation_ = false;
    done_.clear();
    starts_.clear();
    find_open_types();
}

void OrderRound::find_open_types()
{
    open_types_.clear();
    for (std::uint32_t type = 0; type < queue_->unit_types().size(); ++type) {
        if (free_.is_open(type)) open_types_.push_back(type);
    }
}

/// Takes the job's best place on the unit type that fits now, when it is better than `best`.
void OrderRound::consider(const QueuePlaces& places, std::size_t unit_type, std::uint32_t& best) const
{
    const JobOptions& options = places.options;
    // Most jobs have one place on each unit type.
    std::size_t at = std::min(unit_type, options.size());
    if (at == options.size() || options[at].unit_type != unit_type ||
        (at > 0 && options[at - 1].unit_type == unit_type))
        at = static_cast<std::size_t>(
            std::lower_bound(options.begin(), options.end(), unit_type,
                             [](const JobOption& option, std::size_t type) { return option.unit_type < type; }) -
            options.begin());
    for (; at < options.size() && options[at].unit_type == unit_type; ++at) {
        if (places.base[at] == kNever || !free_.fits(options[at])) continue;
        const bool is_better = best == kNoOption || std::tie(places.cost[at], places.base[at], at) <
                                                        std::tuple(places.cost[best], places.base[best], best);
        if (is_better) best = static_cast<std::uint32_t>(at);
    }
}

/// Of the places that fit now the one of least cost.
std::uint32_t OrderRound::best_free(const QueuePlaces& places) const
{
    std::uint32_t best = kNoOption;
    if (open_types_.size() <= kFewTypes) {
        for (const std::uint32_t type : open_types_)
            consider(places, type, best);
        return best;
    }
    const JobOptions& options = places.options;
    double least = kNever;
    for (std::uint32_t i = 0; i < options.size(); ++i) {
        if (places.cost[i] > least || places.base[i] == kNever || !free_.fits(options[i])) continue;
        if (places.cost[i] == least && best != kNoOption && places.base[best] <= places.base[i]) continue;
        least = places.cost[i];
        best = i;
    }
    return best;
}

/// The same by what was known last: in this decision less is free the later it is, and since the one before only what
/// has been freed can be better.
std::uint32_t OrderRound::known_best_free(QueuePlaces& places) const
{
    const std::int64_t seen_at = std::exchange(places.wanted_at, queue_->decisions());
    const bool is_lost = places.wanted != kNoOption && !free_.fits(places.options[places.wanted]);
    const bool is_of_now = seen_at == queue_->decisions();
    const bool is_of_last = seen_at != QueuePlaces::kNotYet && seen_at + 1 == queue_->decisions();
    const bool is_known =
        is_of_now || (is_of_last && !has_backfill_reservation_ && !queue_->had_backfill_reservation());
    if (is_lost || !is_known) return places.wanted = best_free(places);
    if (is_of_now) return places.wanted;
    for (const std::uint32_t type : queue_->opened())
        consider(places, type, places.wanted);
    return places.wanted;
}

void OrderRound::start_overdue(IfNoneFits otherwise)
{
    for (const auto& [order_s, key, job] : queue_->overdue()) {
        if (open_types_.empty()) return;
        if (queue_->entry(job).is_done || start(job)) continue;
        if (otherwise == IfNoneFits::kReserveUnits && !queue_->entry(job).has_gang()) reserve_units_for(job);
    }
}

/// Starts the job, and its gang, where each suits best. Whatever comes of it, the job has been looked at.
bool OrderRound::start(std::uint32_t job)
{
    const QueueEntry& entry = queue_->entry(job);
    if (entry.has_gang()) return start_gang(queue_->gangs().at(entry.job.gang));
    const std::uint32_t option = best_free(*entry.places);
    if (option == kNoOption) return false;
    start_at(job, option);
    return true;
}

void OrderRound::start_at(std::uint32_t job, std::uint32_t option)
{
    QueueEntry& entry = queue_->entry(job);
    const JobOption& place = entry.option(option);
    const auto type = static_cast<std::uint32_t>(place.unit_type);
    free_.take(place);
    if (!free_.is_open(type)) std::erase(open_types_, type);
    entry.is_done = true;
    done_.push_back(job);
    starts_.push_back({job, option, place});
}

bool OrderRound::start_gang(const std::vector<std::uint32_t>& members)
{
    const std::size_t before = starts_.size();
    for (const std::uint32_t member : members) {
        if (const std::uint32_t option = best_free(*queue_->entry(member).places); option != kNoOption) {
            start_at(member, option);
            continue;
        }
        for (; starts_.size() > before; starts_.pop_back())
            free_.give_back(starts_.back().place);
        find_open_types();
        // What is free only gets less from here: the gang need not be tried again.
        for (const std::uint32_t each : members) {
            queue_->entry(each).is_done = true;
            done_.push_back(each);
        }
        return false;
    }
    return true;
}

/// What keeping the option's units would be, from what frees when; nothing when it could not run there even then.
std::optional<BackfillReservation> OrderRound::plan_reservation(const JobOption& option) const
{
    const std::int64_t free = free_.count(option.unit_type);
    const std::int64_t missing = option.unit_count - free;
    if (missing <= 0) return std::nullopt; // it is not units that it lacks
    const std::optional<FreedUnits> freed = queue_->releases(option.unit_type).when(missing, now_s_);
    const BackfillReservation reservation =
        freed ? BackfillReservation{freed->in_s, free + freed->units - option.unit_count, true}
              : BackfillReservation{0, 0, false};
    if (reservation.start_s + option.run_s > free_.free_for_s(option.unit_type)) return std::nullopt;
    return reservation;
}

/// Reserves units where the job would end first, as far as that is known, unless an older job has them reserved
/// already.
void OrderRound::reserve_units_for(std::uint32_t job)
{
    const QueuePlaces& places = *queue_->entry(job).places;
    const JobOptions& options = places.options;
    std::optional<std::size_t> best;
    BackfillReservation best_reservation;
    const auto rank = [](const BackfillReservation& reservation, const JobOption& option) {
        return std::tuple(!reservation.is_known, reservation.start_s + option.run_s);
    };
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (places.base[i] == kNever || free_.is_reserved(options[i].unit_type)) continue;
        const std::optional<BackfillReservation> reservation = plan_reservation(options[i]);
        if (!reservation || (best && rank(*reservation, options[i]) >= rank(best_reservation, options[*best])))
            continue;
        best = i;
        best_reservation = *reservation;
    }
    if (!best) return;
    free_.reserve(options[*best].unit_type, best_reservation);
    has_backfill_reservation_ = true;
}

/// Again and again, of all pairs of a job and the free place that it does best at, the one of least index starts. Jobs
/// become candidates in the order of their least index, no more of them than it takes.
void OrderRound::start_by_index()
{
    most_units_ = 0;
    auto next_job = queue_->by_index().begin();
    while (!open_types_.empty()) {
        least_index_ = kNever;
        for (const std::uint32_t type : wanted_types_) {
            if (!candidates_[type].empty()) least_index_ = std::min(least_index_, candidates_[type].front().index);
        }
        for (; next_job != queue_->by_index().end() && std::get<double>(*next_job) <= least_index_; ++next_job)
            gather(std::get<std::uint32_t>(*next_job));
        const std::optional<Candidate> next = take_next();
        if (!next) break;
        const std::size_t before = starts_.size();
        offer(*next);
        for (std::size_t i = before; i < starts_.size(); ++i)
            look_again(starts_[i].place.unit_type);
    }
    for (const std::uint32_t type : wanted_types_) {
        candidates_[type].clear();
        is_wanted_[type] = 0;
    }
    wanted_types_.clear();
}

void OrderRound::gather(std::uint32_t job)
{
    const QueueEntry& entry = queue_->entry(job);
    if (entry.is_done) return;
    const std::uint32_t option = entry.has_gang() ? best_free(*entry.places) : known_best_free(*entry.places);
    if (option != kNoOption) add_candidate(job, option);
}

void OrderRound::add_candidate(std::uint32_t job, std::uint32_t option)
{
    const QueueEntry& entry = queue_->entry(job);
    const JobOption& place = entry.option(option);
    std::vector<Candidate>& wanting = candidates_[place.unit_type];
    if (std::exchange(is_wanted_[place.unit_type], 1) == 0)
        wanted_types_.push_back(static_cast<std::uint32_t>(place.unit_type));
    wanting.push_back({entry.index(option), entry.job.key, job, option});
    std::push_heap(wanting.begin(), wanting.end(), std::greater<>());
    most_units_ = std::max(most_units_, place.unit_count);
    least_index_ = std::min(least_index_, entry.index(option));
}

std::optional<OrderRound::Candidate> OrderRound::take_next()
{
    std::vector<Candidate>* first = nullptr;
    for (const std::uint32_t type : wanted_types_) {
        std::vector<Candidate>& wanting = candidates_[type];
        if (wanting.empty()) continue;
        if (first == nullptr || first->front() > wanting.front()) first = &wanting;
    }
    if (first == nullptr) return std::nullopt;
    std::pop_heap(first->begin(), first->end(), std::greater<>());
    const Candidate next = first->back();
    first->pop_back();
    return next;
}

/// Starts the job there unless it does better to wait.
void OrderRound::offer(const Candidate& candidate)
{
    const QueueEntry& entry = queue_->entry(candidate.job);
    if (entry.is_done) return;
    if (entry.has_gang()) {
        start(candidate.job);
        return;
    }
    if (is_worth_waiting(entry, entry.places->cost[candidate.option])) return;
    start_at(candidate.job, candidate.option);
}

/// Finds new places for the candidates that have lost theirs to starts on this unit type.
void OrderRound::look_again(std::size_t unit_type)
{
    if (!free_.is_reserved(unit_type) && free_.count(unit_type) >= most_units_) return;
    std::vector<Candidate>& wanting = candidates_[unit_type];
    if (wanting.empty()) return;
    const auto lost = free_.count(unit_type) == 0
                          ? wanting.begin()
                          : std::partition(wanting.begin(), wanting.end(), [&](const Candidate& one) {
                                return free_.fits(queue_->entry(one.job).option(one.option));
                            });
    if (lost == wanting.end()) return;
    const std::vector<Candidate> moving(lost, wanting.end());
    wanting.erase(lost, wanting.end());
    std::make_heap(wanting.begin(), wanting.end(), std::greater<>());
    for (const Candidate& one : moving) {
        const QueueEntry& entry = queue_->entry(one.job);
        if (entry.is_done) continue;
        const std::uint32_t wanted = entry.has_gang() ? best_free(*entry.places) : known_best_free(*entry.places);
        if (wanted != kNoOption) add_candidate(one.job, wanted);
    }
}

/// Whether a place that the job has to wait for is expected to be better than one of that cost.
bool OrderRound::is_worth_waiting(const QueueEntry& entry, double cost) const
{
    if (!queue_->has_room()) return false;
    QueuePlaces& places = *entry.places;
    const auto is_better = [&](std::uint32_t option) {
        return places.cost[option] < cost && queue_->expected(entry, option).cost < cost;
    };
    if (places.waits_for != kNoOption && is_better(places.waits_for)) return true;
    for (std::uint32_t option = 0; option < places.cost.size(); ++option) {
        if (!is_better(option)) continue;
        places.waits_for = option;
        return true;
    }
    return false;
}

/// The best of those expected to cost less than `below`.
OrderRound::BestExpected OrderRound::best_expected(const QueueEntry& entry, double below) const
{
    const QueuePlaces& places = *entry.places;
    BestExpected best;
    const std::size_t options = queue_->has_room() ? places.options.size() : 0;
    for (std::uint32_t option = 0; option < options; ++option) {
        if (!(places.cost[option] < below)) continue; // with a wait it only costs more
        const WaitQueueState::Expected one = queue_->expected(entry, option);
        if (!(one.cost < below)) continue;
        below = one.cost;
        best = {one, option};
    }
    return best;
}

std::vector<PossibleStart> OrderRound::possible_starts() const
{
    std::vector<PossibleStart> possible;
    for (const std::uint32_t job : queue_->waiting()) {
        const QueueEntry& entry = queue_->entry(job);
        const QueuePlaces& places = *entry.places;
        if (entry.is_done || entry.is_held || entry.overdue.is_in || entry.has_gang()) continue;
        const std::uint32_t best = best_free(places);
        if (best == kNoOption) continue;
        const double expected_cost = best_expected(entry, kNever).expected.cost;
        for (std::uint32_t option = 0; option < places.options.size(); ++option) {
            const JobOption& place = places.options[option];
            if (places.base[option] == kNever || expected_cost < places.cost[option] || !free_.fits(place)) continue;
            const bool has_room = queue_->unit_types()[place.unit_type].load < 1;
            if (has_room && places.cost[best] < places.cost[option]) continue;
            possible.push_back({job, option, place.unit_type, entry.index(option)});
        }
    }
    return possible;
}

/// Starts what the free places and the waiting jobs are best for together; the rest is for start_by_index().
void OrderRound::start_assigned()
{
    std::vector<PossibleStart> possible = possible_starts();
    const auto goes_before = [this](const PossibleStart& a, const PossibleStart& b) {
        const auto key = [this](const PossibleStart& one) {
            return queue_->entry(static_cast<std::uint32_t>(one.job)).job.key;
        };
        return std::tuple(a.index, key(a), a.option) < std::tuple(b.index, key(b), b.option);
    };
    std::sort(possible.begin(), possible.end(), goes_before);
    std::vector<std::int64_t> free;
    for (std::size_t type = 0; type < queue_->unit_types().size(); ++type)
        free.push_back(free_.count(type));
    std::vector<PossibleStart> starts = assign_free(possible, free);
    std::sort(starts.begin(), starts.end(), goes_before);
    for (const PossibleStart& one : starts) {
        const auto job = static_cast<std::uint32_t>(one.job);
        const auto option = static_cast<std::uint32_t>(one.option);
        if (free_.fits(queue_->entry(job).option(option))) start_at(job, option);
    }
}

std::vector<DeferredStart> OrderRound::deferred_starts()
{
    begin();
    std::vector<DeferredStart> waits;
    std::unordered_map<const QueuePlaces*, std::uint32_t> best_free_of;
    for (const std::uint32_t job : queue_->waiting()) {
        const QueueEntry& entry = queue_->entry(job);
        const QueuePlaces& places = *entry.places;
        if (!queue_->has_room() || entry.has_gang() || entry.overdue.is_in || !entry.has_place()) continue;
        const auto [known, is_new] = best_free_of.try_emplace(&places, kNoOption);
        if (is_new) known->second = best_free(places);
        const std::uint32_t here = known->second;
        if (here == kNoOption) continue;
        const BestExpected there = best_expected(entry, places.cost[here]);
        if (there.option == kNoOption) continue;
        const double gain_s = places.cost[here] - places.cost[there.option];
        const double share = queue_->starvation_limit_share(places.options[there.option].unit_type);
        waits.push_back({job, there.option, there.expected.wait_s, gain_s * share});
    }
    return waits;
}

} // namespace fathom
