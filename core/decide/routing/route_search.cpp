#include "core/decide/routing/route_search.hpp"

#include "core/decide/routing/route_reasons.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fathom {
namespace {

/// What places are ranked by, less is better: known before unknown, then those that tie with the best before all
/// others; among ties measured before estimated, fewer units, the earlier start; else by objective; at last by id.
/// Jobs of which nothing is known: the earlier start, then the faster measured.
struct Rank {
    std::int64_t unknown_parts{};
    std::int64_t class_of_tie{}; ///< 0: a tie with the best
    double first{};
    double second{};
    double third{};
    std::uint32_t id{};

    auto order() const { return std::tie(unknown_parts, class_of_tie, first, second, third, id); }
    bool operator<(const Rank& other) const { return order() < other.order(); }
};

/// The figures of a place that ranks are made of.
struct Figures {
    std::int64_t unknown_parts{};
    bool is_estimated{};
    double objective{};
    double start_s{};
    std::int64_t unit_count{};
    std::uint32_t id{};
    double speed{}; ///< of jobs of which nothing is known
};

Rank rank_of(const Figures& figures, bool knows_work, double tie_limit)
{
    if (!knows_work) return {0, 0, figures.start_s, -figures.speed, 0, figures.id};
    if (figures.objective > tie_limit) return {figures.unknown_parts, 1, figures.objective, 0, 0, figures.id};
    return {figures.unknown_parts, 0,         figures.is_estimated ? 1.0 : 0.0, static_cast<double>(figures.unit_count),
            figures.start_s,       figures.id};
}

/// The best of what is known: the fewest unknown parts, and of those the least objective.
struct Best {
    std::int64_t unknown_parts = std::numeric_limits<std::int64_t>::max();
    double objective = Availability::kForEver;

    void add(std::int64_t unknown, double value)
    {
        if (unknown > unknown_parts) return;
        objective = unknown < unknown_parts ? value : std::min(objective, value);
        unknown_parts = unknown;
    }
    double tie_limit() const { return objective * (1 + kTieFraction); }
};

Figures figures_at(RouteTable::Impl& table, const RouteKind& kind, const Found& found)
{
    const PlaceChoice& choice = found.choice;
    return {kind.knows_work ? choice.unknown_parts : 0,
            choice.estimated_operators > 0,
            choice.objective,
            kind.knows_work ? choice.plan.start_s : choice.wait_s,
            choice.unit_count,
            table.columns->id_rank()[found.unit_type],
            kind.knows_work ? 0 : table.columns->speed(found.unit_type)};
}

void sort_places(RouteTable::Impl& table, const RouteKind& kind, double tie_limit, std::vector<Found>& places)
{
    const auto rank = [&](const Found& found) {
        return rank_of(figures_at(table, kind, found), kind.knows_work, tie_limit);
    };
    std::sort(places.begin(), places.end(), [&](const Found& a, const Found& b) { return rank(a) < rank(b); });
}

class Search {
  public:
    Search(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind, PlaceChooser& chooser,
           std::size_t most)
        : request_(&request), table_(&table), kind_(&kind), chooser_(&chooser), most_(most),
          limits_(request, kind, chooser), objective_(kind.objective.data()), unknown_(kind.unknown_parts.data()),
          filter_(kind.filter.data()), has_limits_(!kind.cost.empty())
    {
    }

    RouteSearch run()
    {
        if (!kind_->is_exact) {
            branch_and_bound();
        } else {
            if (!kind_->is_rough.empty()) refine_best();
            take_best();
        }
        sort();
        return std::move(result_);
    }

  private:
    std::size_t size() const { return kind_->filter.size(); }

    bool may_stay(std::size_t i) const
    {
        return filter_[i] == RouteKind::kStays && (!has_limits_ || limits_.removing(i) == RouteKind::kStays);
    }

    /// As the columns have it.
    Figures figures_of(std::size_t i) const
    {
        return {kind_->unknown_parts[i],
                kind_->is_estimated[i] != 0,
                kind_->objective[i],
                kind_->start_s[i],
                kind_->unit_count[i],
                table_->columns->id_rank()[i],
                kind_->knows_work ? 0 : table_->columns->speed(i)};
    }

    Figures figures_of(const Found& found) const { return figures_at(*table_, *kind_, found); }

    void look_at(std::size_t i)
    {
        const Found& found = table_->look_at(*request_, *chooser_, *kind_, i);
        if (found.choice.is_beaten) return;
        if (found.choice.removed_by) {
            result_.removed.push_back(found);
            return;
        }
        const Figures figures = figures_of(found);
        best_.add(figures.unknown_parts, kind_->knows_work ? figures.objective : figures.start_s);
        result_.feasible.push_back(found);
    }

    /// What a place cannot be better than.
    struct Bound {
        std::uint8_t unknown_parts{};
        double objective{};
        std::uint32_t unit_type{};
        auto order() const { return std::tie(unknown_parts, objective, unit_type); }
        bool operator<(const Bound& other) const { return order() < other.order(); }
    };

    Bound bound_of(std::size_t i) const
    {
        return {kind_->unknown_parts[i], kind_->objective[i], static_cast<std::uint32_t>(i)};
    }

    void count_neighbours(std::size_t i)
    {
        table_->estimate_roughly(*request_, *chooser_, *kind_, i, RouteTable::Impl::Neighbours::kCounted);
    }
    void refine(std::size_t i) { table_->refine(*request_, *chooser_, *kind_, i); }
    bool is_exact_at(std::size_t i) const { return !kind_->is_rough_at(i); }

    /// Makes choices in order of their rough bounds, until the columns say all of as many of the best as are wanted and
    /// of those that tie with the best. Few of many are ever reached: they are taken in batches, each found by one
    /// scan.
    void refine_best()
    {
        std::vector<Bound> kept; // as many as are wanted, the worst first
        Best best;
        const auto keep = [&](std::size_t i) {
            if (!may_stay(i)) return;
            best.add(unknown_[i], objective_[i]);
            kept.push_back(bound_of(i));
            std::push_heap(kept.begin(), kept.end());
            if (kept.size() <= most_) return;
            std::pop_heap(kept.begin(), kept.end());
            kept.pop_back();
        };
        const auto is_needless = [&](const Bound& bound) {
            const bool may_tie = bound.unknown_parts == best.unknown_parts && bound.objective <= best.tie_limit();
            return kept.size() == most_ && kept.front() < bound && !may_tie;
        };
        for (std::size_t i = 0; i < size(); ++i) {
            if (is_exact_at(i)) keep(i);
        }
        for (std::size_t most = kFirstBounds;; most *= kMoreBounds) {
            // Those of the batches before are no longer rough.
            auto [bounds, end] =
                least_bounds(most, [this](const Bound& bound) { return !is_exact_at(bound.unit_type); });
            while (!bounds.empty()) {
                const std::uint32_t unit_type = bounds.front().unit_type;
                if (is_needless(bounds.front())) return;
                std::pop_heap(bounds.begin(), bounds.end(), kLeastFirst);
                bounds.pop_back();
                if (RouteTable::Impl::is_quick_at(*kind_, unit_type)) {
                    count_neighbours(unit_type);
                    put_back(unit_type, bounds, end);
                    continue;
                }
                refine(unit_type);
                keep(unit_type);
            }
            if (!end) return;
        }
    }

    struct Place {
        Rank rank;
        std::uint32_t unit_type{};
        bool operator<(const Place& other) const { return rank < other.rank; }
    };

    /// Of the places of which the columns say all.
    Best best_of_columns() const
    {
        Best best;
        for (std::size_t i = 0; i < size(); ++i) {
            // Most are worse than what was seen: asked first.
            if (objective_[i] >= best.objective && unknown_[i] >= best.unknown_parts) continue;
            if (is_exact_at(i) && may_stay(i)) best.add(unknown_[i], objective_[i]);
        }
        return best;
    }

    /// The columns say all of those without a rough bound, and the others are worse: the best, by a heap of as many as
    /// are wanted.
    void take_best()
    {
        const Best best = best_of_columns();
        std::vector<Place> heap; // the worst of the kept first
        const double tie_limit = best.tie_limit();
        double hopeless = std::numeric_limits<double>::max(); // beyond it nothing can be kept: asked first
        for (std::size_t i = 0; i < size(); ++i) {
            if (objective_[i] > hopeless) continue;
            if (heap.size() == most_ && is_surely_behind(i, heap.front().rank, tie_limit)) continue;
            if (!is_exact_at(i) || !may_stay(i)) continue;
            const Place place{rank_of(figures_of(i), kind_->knows_work, tie_limit), static_cast<std::uint32_t>(i)};
            if (!keep_if_better(heap, place)) continue;
            const Rank& worst = heap.front().rank;
            if (heap.size() == most_ && kind_->knows_work && worst.unknown_parts == best.unknown_parts)
                hopeless = worst.class_of_tie == 1 ? worst.first : tie_limit;
        }
        for (const Place& place : heap)
            look_at(place.unit_type);
        best_ = best;
    }

    /// Of the best places, as many as are wanted, `heap` has the worst first. False when `place` is none of them.
    bool keep_if_better(std::vector<Place>& heap, const Place& place) const
    {
        if (heap.size() == most_) {
            if (!(place < heap.front())) return false;
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
        }
        heap.push_back(place);
        std::push_heap(heap.begin(), heap.end());
        return true;
    }

    /// Quick: true for most places that the worst of the kept ones beats.
    bool is_surely_behind(std::size_t i, const Rank& worst, double tie_limit) const
    {
        if (!kind_->knows_work) return kind_->start_s[i] > worst.first;
        if (kind_->unknown_parts[i] != worst.unknown_parts) return kind_->unknown_parts[i] > worst.unknown_parts;
        if (worst.class_of_tie == 1) return kind_->objective[i] > worst.first;
        return kind_->objective[i] > tie_limit || kind_->is_estimated[i] > worst.first ||
               (kind_->is_estimated[i] == worst.first && kind_->unit_count[i] > worst.second);
    }

    /// Some places in order of their bounds.
    struct NextBounds {
        std::vector<Bound> heap;  ///< the least in front
        std::optional<Bound> end; ///< the last of them; nothing: there are no more
    };

    /// The least bounds of places that may stay and that are wanted, as many as `most`.
    template <class Wanted>
    NextBounds least_bounds(std::size_t most, const Wanted& is_wanted) const
    {
        NextBounds least;
        std::vector<Bound>& kept = least.heap; // twice as many, and then the better half of them
        const auto leave_the_least = [&] {
            std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(most - 1), kept.end());
            kept.resize(most);
            least.end = kept.back();
        };
        for (std::size_t i = 0; i < size(); ++i) {
            if (least.end && objective_[i] > least.end->objective && unknown_[i] >= least.end->unknown_parts) continue;
            if (!may_stay(i)) continue;
            const Bound bound = bound_of(i);
            if (!is_wanted(bound) || (least.end && !(bound < *least.end))) continue;
            kept.push_back(bound);
            if (kept.size() == 2 * most) leave_the_least();
        }
        if (kept.size() >= most) leave_the_least();
        std::make_heap(kept.begin(), kept.end(), kLeastFirst);
        return least;
    }

    /// The next places in order of their bounds, as many as `most`, behind `after`.
    NextBounds next_bounds(const std::optional<Bound>& after, std::size_t most) const
    {
        return least_bounds(most, [&](const Bound& bound) { return !after || *after < bound; });
    }

    bool can_be_best(const Bound& bound) const
    {
        return bound.unknown_parts < best_.unknown_parts ||
               (bound.unknown_parts == best_.unknown_parts && bound.objective < best_.objective);
    }

    /// Of a kind that is not exact: with powers, which most places are not asked for.
    void sharpen_quick(std::size_t i)
    {
        table_->estimate_roughly(*request_, *chooser_, *kind_, i, RouteTable::Impl::Neighbours::kLeftOut);
    }

    void refine_bound(std::size_t unit_type, std::vector<Bound>& bounds, const std::optional<Bound>& end)
    {
        if (RouteTable::Impl::is_quick_at(*kind_, unit_type))
            sharpen_quick(unit_type);
        else if (RouteTable::Impl::is_without_neighbours(*kind_, unit_type))
            count_neighbours(unit_type);
        else if (table_->can_bound_starts(*request_, *kind_, unit_type))
            table_->bound_starts(*request_, *chooser_, *kind_, unit_type);
        else
            refine(unit_type);
        put_back(unit_type, bounds, end);
    }

    /// Puts the place's new bound into `bounds`, unless it is behind `end`: then the next ones have it.
    void put_back(std::size_t unit_type, std::vector<Bound>& bounds, const std::optional<Bound>& end) const
    {
        if (!may_stay(unit_type)) return;
        const Bound refined = bound_of(unit_type);
        if (end && *end < refined) return;
        bounds.push_back(refined);
        std::push_heap(bounds.begin(), bounds.end(), kLeastFirst);
    }

    /// The columns have bounds: places are looked at in their order, until none is left that could be better.
    void branch_and_bound()
    {
        const std::size_t enough = std::min(most_, kMinLookedAt);
        std::optional<Bound> last; // all up to it were looked at, or need not be
        bool is_done = false;
        for (std::size_t most = kFirstBounds; !is_done; most *= kMoreBounds) {
            auto [bounds, end] = next_bounds(last, most);
            is_done = !end;
            while (!bounds.empty()) {
                const Bound next = bounds.front();
                std::pop_heap(bounds.begin(), bounds.end(), kLeastFirst);
                bounds.pop_back();
                const bool has_enough = result_.feasible.size() >= enough;
                if (has_enough && !can_be_best(next)) {
                    is_done = true;
                    break;
                }
                last = next;
                if (kind_->is_rough_at(next.unit_type)) {
                    refine_bound(next.unit_type, bounds, end);
                    continue;
                }
                // With enough to show, a start need not be searched for where none could win.
                const bool is_comparable = has_enough && next.unknown_parts == best_.unknown_parts;
                chooser_->set_limit(is_comparable && kind_->knows_work ? tie_limit() : Availability::kForEver);
                look_at(next.unit_type);
            }
        }
        chooser_->set_limit(Availability::kForEver);
        if (!result_.feasible.empty()) look_at_ties(last);
    }

    /// None of those behind `last` can be the best, but some may tie with it and be preferred.
    void look_at_ties(const std::optional<Bound>& last)
    {
        const double limit = tie_limit();
        std::vector<std::pair<Rank, std::uint32_t>> ties;
        for (std::size_t i = 0; i < size(); ++i) {
            if (objective_[i] > limit || unknown_[i] != best_.unknown_parts) continue;
            if (!may_stay(i)) continue;
            if (RouteTable::Impl::is_quick_at(*kind_, i)) sharpen_quick(i);
            // It came up before: without a bound by start a choice would have been made there.
            if (kind_->is_by_start_at(i)) refine(i);
            if (objective_[i] > limit || unknown_[i] != best_.unknown_parts) continue;
            if (may_stay(i) && (!last || *last < bound_of(i)))
                ties.emplace_back(rank_of(figures_of(i), kind_->knows_work, limit), static_cast<std::uint32_t>(i));
        }
        // Few of many are ever looked at.
        std::make_heap(ties.begin(), ties.end(), kLeastFirst);
        Rank leader = least_rank(limit);
        while (!ties.empty() && !(leader < ties.front().first)) {
            const std::size_t before = result_.feasible.size();
            look_at(ties.front().second);
            if (result_.feasible.size() > before)
                leader = std::min(leader, rank_of(figures_of(result_.feasible.back()), kind_->knows_work, limit));
            std::pop_heap(ties.begin(), ties.end(), kLeastFirst);
            ties.pop_back();
        }
    }

    double tie_limit() const { return kind_->knows_work ? best_.tie_limit() : best_.objective; }

    Rank least_rank(double limit) const
    {
        Rank least = rank_of(figures_of(result_.feasible.front()), kind_->knows_work, limit);
        for (const Found& found : result_.feasible)
            least = std::min(least, rank_of(figures_of(found), kind_->knows_work, limit));
        return least;
    }

    void sort() { sort_places(*table_, *kind_, best_.tie_limit(), result_.feasible); }

    /// For heaps with the least in front.
    static constexpr auto kLeastFirst = [](const auto& a, const auto& b) { return b < a; };
    /// Enough to tell what the winner won against.
    static constexpr std::size_t kMinLookedAt = 8;
    static constexpr std::size_t kFirstBounds = 32;
    static constexpr std::size_t kMoreBounds = 8; ///< times as many in the next batch

    const RouteRequest* request_;
    RouteTable::Impl* table_;
    RouteKind* kind_;
    PlaceChooser* chooser_;
    std::size_t most_;
    RouteLimits limits_;
    // Columns of the kind, as RouteLimits has them.
    const double* objective_;
    const std::uint8_t* unknown_;
    const std::uint8_t* filter_;
    bool has_limits_;
    Best best_;
    RouteSearch result_;
};

} // namespace

RouteSearch find_places(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind, PlaceChooser& chooser,
                        std::size_t most)
{
    return Search(request, table, kind, chooser, most).run();
}

void put_in_order(RouteTable::Impl& table, const RouteKind& kind, std::vector<Found>& places)
{
    Best best;
    for (const Found& one : places) {
        const Figures figures = figures_at(table, kind, one);
        best.add(figures.unknown_parts, kind.knows_work ? figures.objective : figures.start_s);
    }
    sort_places(table, kind, best.tie_limit(), places);
}

} // namespace fathom
