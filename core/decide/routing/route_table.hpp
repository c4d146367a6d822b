#pragma once

#include "core/decide/routing/place.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

/// What a RouteTable keeps; part of core/decide/routing/route.
namespace fathom {

/// By how much a bound is less, for what differs by a rounding only.
inline constexpr double kBoundFactor = 1 - 1e-9;

/// Of a run, corrected by history, with the trust penalty. Longer runs are never less.
inline double judged_compute_s(double run_s, double factor, double trust_factor)
{
    const double compute_s = run_s * factor;
    return compute_s + std::max(0.0, run_s / trust_factor - std::max(run_s, compute_s));
}

/// All that is the same for jobs that differ in nothing but deadline, budget and what their project has used: by unit
/// type the choice that such a job has there, or a bound that no choice can beat. Columns, since decisions scan them.
struct RouteKind {
    /// In `filter` of unit types that no filter removes.
    static constexpr std::uint8_t kStays = kFilterCount;
    /// In `is_rough`.
    static constexpr std::uint8_t kRough = 1;
    static constexpr std::uint8_t kQuick = 2;
    static constexpr std::uint8_t kSharp = 3;
    static constexpr std::uint8_t kByStart = 4;

    /// The objective is that of the choice itself, not a bound of it, and so are the others; a deadline or budget only
    /// has to be compared with completion_s and cost.
    bool is_exact{};
    /// kRough where no choice was made yet, and the columns have what none can beat by run times alone: in large
    /// networks most unit types need no closer look. kQuick: a lower bound still, without what takes long to compute.
    /// kSharp, only of a kind that is not exact: as kRough, and with what neighbours cost at least. kByStart, only of
    /// such a kind: as kRough, but the objective is bounded count by count, and hour by hour. 0: the columns are those
    /// of a choice. Empty: all are.
    std::vector<std::uint8_t> is_rough;
    /// 1 where times of runs of its type are known, which may be less than any bound of raw predictions. Empty:
    /// nowhere.
    std::vector<std::uint8_t> has_runs;
    double least_factor{1};                  ///< of all corrections by what jobs of the type took
    bool has_loads{};                        ///< what neighbours cost may be known of one of its operators
    bool knows_work{};                       ///< something is known of run times: else the earliest start wins
    std::vector<std::uint8_t> filter;        ///< the Filter that removes it whatever deadline and budget
    std::vector<std::uint8_t> own_filter;    ///< the one that neither load nor quota can change; kStays
    std::vector<std::int32_t> knee;          ///< of the job there; 0: not looked for
    std::vector<std::uint8_t> unknown_parts; ///< at most 255; 0 where only starts are compared
    std::vector<std::uint8_t> is_estimated;
    std::vector<double> objective; ///< infinite where it is removed
    std::vector<double> start_s;   ///< until its units are free
    std::vector<std::int32_t> unit_count;
    std::vector<double> completion_s; ///< only with a deadline or budget, as `cost`
    std::vector<double> cost;

    std::vector<std::shared_ptr<const OperatorColumn>> operators; ///< of the request, in order
    std::shared_ptr<const KnownRunColumn> known; ///< of its known run; nullptr: it has none, and its operators count
    /// Of its operators on one unit, by unit type, of those that decisions described.
    std::unordered_map<std::uint32_t, RunPrediction> predictions;
    static constexpr std::size_t kMaxPredictions = 256;
    /// What was found where it was looked at and nothing has changed since, by unit type, whatever deadline and budget
    /// within their limit_use; at most kMaxFound of them.
    std::unordered_map<std::uint32_t, Found> found;
    static constexpr std::size_t kMaxFound = 256;
    /// What a choice at a place would put into completion_s and cost at most.
    struct MostLimited {
        std::uint32_t unit_type{};
        double completion_s{};
        double cost{};
    };
    /// Of all places that are kByStart; some of them may not be any more.
    std::vector<MostLimited> by_start;
    bool is_by_start_at(std::size_t unit_type) const
    {
        return is_rough_at(unit_type) && is_rough[unit_type] == kByStart;
    }
    bool is_rough_at(std::size_t unit_type) const { return !is_rough.empty() && is_rough[unit_type] != 0; }
    bool has_runs_at(std::size_t unit_type) const { return !has_runs.empty() && has_runs[unit_type] != 0; }

    std::array<std::int64_t, kFilterCount> removed{};
    FilterTrace filter_trace;                 ///< without deadline and budget
    std::vector<std::uint32_t> removed_first; ///< a few of each filter, each of another center
    bool is_filter_trace_made{};
    std::size_t seen_changes{}; ///< of the table's
    std::uint64_t batch{};      ///< of the table, in which it was made, or made like new
    std::uint64_t last_used{};
};

struct RouteTable::Impl {
    /// @param shared  of the same unit types; nullptr: the table makes its own.
    Impl(std::shared_ptr<const UnitTypeList> list, RouteKnowledge learned, std::shared_ptr<RouteColumns> shared);

    void note_change(std::size_t unit_type);
    /// From here on decisions are those of a table that is made now: which places were looked at closely is forgotten.
    void begin_batch();
    /// The kind of the request, up to date. The chooser is of the same request.
    RouteKind& kind_of(const RouteRequest& request, PlaceChooser& chooser);
    /// What the filters of the kind remove, as far as choices were made.
    const FilterTrace& filter_trace_of(const RouteRequest& request, RouteKind& kind) const;
    /// Whether the bound of a unit type, of a kind that is not exact, has what neighbours cost still to be counted.
    static bool is_without_neighbours(const RouteKind& kind, std::size_t unit_type)
    {
        return kind.has_loads && kind.is_rough_at(unit_type) && kind.is_rough[unit_type] == RouteKind::kRough;
    }
    /// Whether the bound of a unit type is only a quick one.
    static bool is_quick_at(const RouteKind& kind, std::size_t unit_type)
    {
        return kind.is_rough_at(unit_type) && kind.is_rough[unit_type] == RouteKind::kQuick;
    }
    enum class Neighbours { kLeftOut, kCounted };
    /// What no choice on the unit type can beat, into the columns. What its neighbours cost a run is left out of quick
    /// bounds, and at first of those of kinds that are not exact: of most places nobody asks for it.
    void estimate_roughly(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind, std::size_t unit_type,
                          Neighbours neighbours);
    /// Whether bound_starts() may come before refine(), at a place of a kind that is not exact.
    bool can_bound_starts(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type);
    /// What no choice at a place can beat, count by count, at whatever hour it starts, into the objective: in place of
    /// refine(), until it is the least bound that is left. The other columns stay as they are.
    void bound_starts(const RouteRequest& request, const PlaceChooser& chooser, RouteKind& kind, std::size_t unit_type);
    /// Makes the choices at those places with a bound by start that deadline or budget may remove: what these remove is
    /// told by the same places, and figures, as if there were no such bounds.
    void refine_doubtful(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind);
    /// Makes the choice of a unit type where there was none yet.
    void refine(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind, std::size_t unit_type);
    /// Looks at a unit type closely, for the best count and start; valid until the next call.
    const Found& look_at(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind, std::size_t unit_type);
    /// The raw prediction for a kind on one unit type; valid until the next call.
    PlaceRun run_of(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type);

    std::shared_ptr<const UnitTypeList> unit_types;
    RouteKnowledge knowledge;
    std::shared_ptr<RouteColumns> columns;
    std::vector<std::uint32_t> changes; ///< unit types, in the order in which they changed

  private:
    /// Of each unit type: 1 where it runs all operators of the kind.
    std::vector<std::uint8_t> runners_of(const RouteKind& kind) const;
    void set_own_filters(const RouteRequest& request, RouteKind& kind) const;
    /// What no start on a unit type can beat.
    struct Least {
        bool is_known{};
        double free_s{};   ///< until a unit is free
        LeastWait start{}; ///< until a job really starts
    };
    RouteKind make_kind(const RouteRequest& request, PlaceChooser& chooser);
    void update(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind, std::size_t unit_type);
    void follow_changes(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind);
    /// Bounds of a run that hold for any number of units.
    struct LeastRun {
        double run_s{};
        double unit_s{}; ///< summed over the units
        std::int64_t unknown{};
        bool is_estimated{};
    };
    /// How many times as long as alone a run is at least, beside those who hold units there.
    struct LeastSlowdown {
        double of_run{1};   ///< where it ends as early as it can
        double of_units{1}; ///< whenever it starts
        /// A run counts for so much more than alone at most, with the trust penalty: starts so late that fewer are
        /// beside it than `of_run` has cost as much at least, whatever the count of units.
        double most_s{Availability::kForEver};
    };
    /// @param delay_s  least_delay_s()
    LeastSlowdown least_slowdown(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type,
                                 const PlaceRun& run, double delay_s);
    /// By bounds of runs alone, with the trust penalty.
    double least_compute_s(const RouteKind& kind, std::size_t unit_type) const;
    /// Counts the neighbours into the bounds of a unit type. @return what they do to a run.
    LeastSlowdown count_neighbours(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type);
    /// The least objective of all counts of units that a choice there would weigh, each by itself; 0: not known. Of an
    /// exact kind. Starts and delays are those of the bounds.
    double least_by_count(const RouteRequest& request, RouteKind& kind, std::size_t unit_type,
                          const LeastSlowdown& slowdown);
    /// All counts of units that a choice of a job that shares devices may weigh; of many it leaves some out.
    struct CountRange {
        std::int64_t first{};
        std::int64_t last{};
        /// Not more than a bound looks at.
        bool is_small() const { return last - first < kMaxBoundCounts; }
        static constexpr std::int64_t kMaxBoundCounts = 64;
    };
    /// @param run  of `known`, divided. Keeps its knee in the kind's column.
    CountRange counts_of(const RouteRequest& request, RouteKind& kind, std::size_t unit_type, const PlaceRun& known,
                         const DividedRun& run) const;
    /// The runs at one place, on all counts of units that a choice may weigh. Refers to what it is made of.
    struct PlaceRuns {
        const DividedRun* run = nullptr; ///< alone, before the correction
        CountRange counts;
        double factor{1};     ///< RunCorrection::factor
        double moved_bytes{}; ///< to the place and from there
    };
    /// What no start on any of the counts can beat.
    double least_by_start(const RouteRequest& request, std::size_t unit_type, const PlaceRuns& runs);
    RouteKind::MostLimited most_limited(const PlaceChooser& chooser, std::size_t unit_type,
                                        const PlaceRuns& runs) const;
    /// Units that are free for ever from some moment on.
    struct FreeAtLast {
        std::int64_t units{};
        double from_s{};
    };
    FreeAtLast free_at_last(std::size_t unit_type) const;
    /// Whether, by the bounds, transfers take longer than the run at its best count.
    bool transfers_prevail(const RouteKind& kind, std::size_t unit_type) const;
    LeastRun least_run(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type);
    /// Room for what bounds are computed with, by unit type.
    struct BoundRoom {
        std::vector<double> run_s;  ///< LeastRun
        std::vector<double> unit_s; ///< LeastRun
        std::vector<std::uint16_t> unknown;
        std::vector<std::uint8_t> is_estimated;
        std::vector<double> moved_bytes;  ///< to the place and from there
        std::vector<double> start_s;      ///< until a unit is free, or a job may start
        std::vector<double> wait_s;       ///< until a job may start
        std::vector<double> delay_s;      ///< least_delay_s(), or less
        std::vector<double> completion_s; ///< of a start in this hour
        std::vector<double> held_unit_s;  ///< seconds times units
        /// Of one unit, and by how much the completion is later, by the hour of the start.
        std::array<std::vector<double>, PriceHours::kHours> cost_per_s;
        std::array<std::vector<double>, PriceHours::kHours> later_s;
        std::vector<double> objectives; ///< of one of the hours
        OutcomeColumns outcomes;        ///< of which the objective is the bound

        void resize(std::size_t size);
    };
    /// Some unit types in a row.
    struct Range {
        std::size_t first{};
        std::size_t last{}; ///< behind them
    };
    void sum_runs(const RouteRequest& request, const RouteKind& kind, Range range);
    void set_moved_bytes(const RouteRequest& request, Range range);
    void set_starts(RouteKind& kind, Range range);
    /// What units cost by the hour of the start, and how much later that start is.
    void set_hours(const RouteRequest& request, const RouteKind& kind, Range range);
    /// Hours before it tell no more than those from it on.
    static std::size_t first_hour(const Preference& prefer);
    /// The least objective of starts in any hour.
    double least_of_hours(const Preference& prefer, std::size_t unit_type) const;
    /// The same of all unit types. @param is_quick  a bound of it
    void set_least_of_hours(const Preference& prefer, bool is_quick, std::span<double> objectives);
    /// From runs, starts and delays.
    void set_outcomes(const RouteRequest& request, const RouteKind& kind, Range range);
    /// The kind's earliest completions and least costs.
    void set_limited(RouteKind& kind, double fewest, Range range);
    /// Runs and starts, with the columns of the kind that need no more: starts, counts, unknown parts.
    void begin_bounds(const RouteRequest& request, RouteKind& kind, Range range);
    /// Whether a place of a new kind may have a bound of its own: else the choice itself is made.
    bool has_bound(const RouteKind& kind, std::size_t unit_type);
    /// estimate_roughly() of all unit types of a new kind that have no closer look.
    void estimate_all(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind);
    static LeastRun least_known_run(const KnownRunColumn& known, std::size_t unit_type, bool is_divided, double fewest);
    bool has_run_estimate(const RouteRequest& request, const PlaceChooser& chooser) const;
    std::optional<Filter> bound_place(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                                      std::size_t unit_type, std::optional<Filter> filter);
    const Least& least_of(std::size_t unit_type);
    /// Until a unit is free.
    double first_free_s(std::size_t unit_type) const;
    /// Whether the least that the job asks for is free there from some moment on for ever, so that a closer look cannot
    /// find that it never is: filter traces must not depend on which places were looked at.
    bool is_free_at_last(const UnitRequest& units, std::size_t unit_type) const;
    /// Whether a run on so many units, or on all where these are fewer, starts at once, however long it is, and on
    /// fewer.
    bool starts_at_once(const UnitRequest& units, std::size_t unit_type, std::int64_t count) const;
    /// Such a run starts no later, on units that become free; infinite: not known, or of no use to a bound.
    double latest_start_s(const RouteRequest& request, std::size_t unit_type, std::int64_t count) const;
    /// What a job that starts as soon as its units are free needs at least beyond the time that its input would take in
    /// the network's best hour.
    double least_delay_s(const RouteRequest& request, std::size_t unit_type);
    /// NetworkProfile::least_end_s() of the unit type's network, which it must have, from now on.
    double least_transfer_s(Timestamp now, std::size_t unit_type, double bytes);
    /// @param end_s   least_end_s() of the network from the moment on at which a unit is free, or less
    /// @param best_s  of the same transfer in the best hour
    static double delay_beyond_s(const Least& least, double end_s, double best_s);
    /// least_delay_s(), or less, of all unit types of a new kind that have a bound.
    void set_delays(const RouteRequest& request, const RouteKind& kind);
    /// RouteKind::has_runs
    std::vector<std::uint8_t> marks_of_runs(const RouteRequest& request) const;
    void forget_oldest();
    /// Where a new kind has rough bounds, this one has them again.
    void roughen(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind);

    std::map<std::string, RouteKind> kinds_;
    std::vector<Least> least_; ///< each made when it is first asked for
    BoundRoom bounds_;
    std::vector<ScaledPart> parts_;
    Found looked_at_; ///< the last one that was not known
    std::vector<std::uint32_t> changed_once_;
    std::vector<std::uint8_t> is_marked_;
    std::uint64_t uses_ = 0;
    std::uint64_t batch_ = 0;
};

} // namespace fathom
