#pragma once

#include "core/decide/queue/free_units.hpp"
#include "core/decide/queue/job_order.hpp"
#include "core/decide/queue/rank_line.hpp"
#include "core/decide/queue/unit_releases.hpp"
#include "core/decide/queue/wait_queue.hpp"

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

/// What a wait queue knows between decisions; part of core/decide/queue/wait_queue.
namespace fathom {

inline constexpr std::uint32_t kNoOption = std::numeric_limits<std::uint32_t>::max();

/// The places of the jobs that share a list of them, with what depends on nothing else.
struct QueuePlaces {
    static constexpr std::int64_t kNotYet = -1;
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    JobOptions as_given;
    JobOptions options;               ///< by unit type
    std::vector<std::uint32_t> given; ///< each option's number as it was given; empty: they came by unit type
    std::vector<double> base;         ///< each option's index but for the job's own weight; infinite: it cannot be used
    std::vector<double> cost;         ///< by which a job's places are compared
    double shortest_s = kNever;       ///< infinite: such jobs can be run nowhere
    std::int64_t fewest_units{1};
    std::uint32_t best = kNoOption; ///< of least index
    std::uint64_t priced = 0;       ///< when base and cost were made: the queue's count

    /// What the last decision that looked at them found, as hints for the next.
    std::int64_t wanted_at = kNotYet;
    std::uint32_t wanted = kNoOption;    ///< the place of least cost among those that were free
    std::uint32_t waits_for = kNoOption; ///< for which a job left that alone
};

/// A job in the queue.
struct QueueEntry {
    static constexpr double kNever = QueuePlaces::kNever;

    QueuedJob job; ///< without its options
    std::shared_ptr<QueuePlaces> places;
    double weight{};              ///< of the job itself
    std::uint64_t generation = 0; ///< of the jobs that have had this number
    bool is_overdue = false;      ///< its starvation limit, or that of one of its gang, is over
    bool is_held = false;         ///< members of its gang are missing, or can be run nowhere
    bool is_done = false;         ///< in this decision it has started, or been looked at

    bool is_in_line = false; ///< of this unit type, its best, by this priority rank
    std::size_t line{};
    PriorityRank rank;
    JobOrder::Standing by_index; ///< by its least index
    JobOrder::Standing overdue;  ///< goes first whatever it weighs, by this time

    bool has_gang() const { return !job.gang.empty(); }
    bool has_place() const { return places->best != kNoOption; }
    const JobOption& option(std::uint32_t number) const { return places->options[number]; }
    double index(std::uint32_t option) const { return weight * places->base[option]; }
};

/// The jobs and the unit types, brought up to the moment of a decision.
class WaitQueueState {
  public:
    WaitQueueState(const OrderSettings& settings, std::span<const std::int64_t> unit_counts);

    std::uint32_t add(QueuedJob job);
    void remove(std::uint32_t job);
    void set_fair_load(std::uint32_t job, double fair_load);
    void set_free(std::size_t unit_type, std::int64_t units, double free_for_s);
    void set_shadow_price(std::size_t unit_type, double shadow_price);
    void set_load(std::size_t unit_type, double load);
    UnitReleases& releases(std::size_t unit_type) { return releases_[unit_type]; }

    /// Before a decision.
    void bring_up_to(double now_s);
    /// After it.
    void take(const std::vector<OrderedStart>& starts, bool has_backfill_reservation);

    const OrderSettings& settings() const { return settings_; }
    QueueEntry& entry(std::uint32_t job) { return entries_[job]; }
    const std::vector<std::uint32_t>& waiting() const { return waiting_; }
    const std::vector<UnitTypeLoad>& unit_types() const { return unit_types_; }
    const FreeUnits& free() const { return free_; }
    using Gangs = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;
    const Gangs& gangs() const { return gangs_; } ///< members by key
    /// Jobs beyond their starvation limit, which go first whatever they weigh; who is longest beyond it before the
    /// others.
    const JobOrder::Places& overdue() const { return overdue_.places(); }
    /// The other jobs by the index of their best place: nowhere do they weigh less.
    const JobOrder::Places& by_index() const { return by_index_.places(); }
    /// Decisions before this one.
    std::int64_t decisions() const { return decisions_; }
    /// Unit types where more may start than when the last decision ended.
    const std::vector<std::uint32_t>& opened() const { return opened_; }
    /// Units were reserved at the last decision, so that what jobs found free is less than there is.
    bool had_backfill_reservation() const { return had_backfill_reservation_; }

    /// Some load is below 1, so that it may be worth waiting for a place.
    bool has_room() const { return has_room_; }
    /// Waiting for one of the job's places that is not free.
    struct Expected {
        double cost = QueueEntry::kNever; ///< with the wait, stretched; infinite: nothing is expected
        double wait_s{};                  ///< as it is
    };
    Expected expected(const QueueEntry& entry, std::uint32_t option) const;
    /// 1 / how much a wait for this unit type is stretched.
    double starvation_limit_share(std::size_t unit_type) const { return starvation_limit_shares_[unit_type]; }

  private:
    enum class Prices { kKnown, kNewLoads, kNewShadowPrices };

    std::shared_ptr<QueuePlaces> places_of(const JobOptions& options);
    void forget_places(QueueEntry& entry);
    void weigh(QueuePlaces& places);
    void set_costs(QueuePlaces& places);
    double weight_of(const QueueEntry& entry) const;
    double due_s(const QueueEntry& entry) const;
    void line_up(std::uint32_t job);
    void stand_in_line(QueueEntry& entry);
    void leave_line(QueueEntry& entry);
    void stand_in_order(std::uint32_t job);
    void leave_order(std::uint32_t job);
    void stand_overdue(std::uint32_t job, double order_s);
    void leave_overdue(std::uint32_t job);
    void reprice();
    void weigh_all();
    void let_starvation_limits_pass();
    /// Of the members of a gang.
    struct GangFigures {
        double mean_index{}; ///< of their best places; kNever when one has none
        double due_s{};      ///< the first of them
        double since_s{};    ///< the first of them
    };
    GangFigures figures_of(const std::vector<std::uint32_t>& members) const;
    void align_gang(const std::vector<std::uint32_t>& members);
    void add_to_gang(std::uint32_t job);
    void remove_from_gang(std::uint32_t job);

    OrderSettings settings_;
    double now_s_ = -QueueEntry::kNever; ///< of the last decision
    std::vector<UnitTypeLoad> unit_types_;
    std::vector<double> starvation_limit_shares_; ///< by unit type
    std::vector<UnitReleases> releases_;          ///< by unit type
    std::vector<RankLine> lines_;                 ///< by unit type
    FreeUnits free_;
    std::vector<std::uint32_t> opened_;
    std::vector<std::uint8_t> is_opened_; ///< by unit type
    bool had_backfill_reservation_ = false;
    bool has_room_ = false;
    Prices prices_ = Prices::kKnown;

    std::unordered_map<const void*, std::shared_ptr<QueuePlaces>> shared_places_; ///< by JobOptions::list()
    std::uint64_t pricing_ = 1; ///< QueuePlaces::priced of those whose base and cost are right
    std::deque<QueueEntry> entries_;
    std::vector<std::uint32_t> unused_; ///< entries
    std::vector<std::uint32_t> waiting_;
    std::vector<std::uint32_t> places_; ///< of each entry in waiting_
    Gangs gangs_;
    std::set<std::uint32_t> hurried_; ///< with a latest start: their weight changes as time goes by
    JobOrder overdue_;
    JobOrder by_index_;
    std::int64_t decisions_ = 0;
    struct Due {
        double at_s{};
        std::uint32_t job{};
        std::uint64_t generation{};
        bool operator>(const Due& other) const { return std::tie(at_s, job) > std::tie(other.at_s, other.job); }
    };
    std::priority_queue<Due, std::vector<Due>, std::greater<>> dues_; ///< when starvation limits are over
};

} // namespace fathom
