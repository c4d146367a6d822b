#pragma once

#include "core/decide/routing/route.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// One unit type weighed for one job, without texts: what decisions are made of; part of core/decide/routing/route.
namespace fathom {

/// What is known of a job's run on one unit of a type. Refers to its parts.
struct PlaceRun {
    RunTime single; ///< the raw prediction, without transfers
    std::span<const ScaledPart> parts;
    std::int64_t unknown_operators{};
    std::int64_t estimated_operators{};
    std::int64_t knee{};                  ///< where it is known already; 0: it is not
    RawBasis basis{RawBasis::kOperators}; ///< of `single`
    const RunByCount* by_count = nullptr; ///< instead of `single` and `parts`, of a request without operators
};

/// What is known of waits; where nothing is, what is assumed.
const WaitHistory& waits_of(const RouteKnowledge& knowledge);
/// What the time that is asked for lets expect of a job without operators; without a share for others.
AskedTime asked_time_of(const RouteRequest& request, const RunHistory* runs);

/// Whether plan_start() takes full hours for starts that wait for a price: not of who moves so much over a network
/// whose hours are others.
bool starts_by_the_hour(const UnitTypeView& view, double moved_bytes);

/// What a choice is made for.
enum class ChoiceAim {
    kBest,  ///< count and start as they would be
    kBound, ///< deadline and budget left out, starts at once: what no real choice can beat
};

/// The count and the start that a job would get on one unit type.
struct PlaceChoice {
    std::optional<Filter> removed_by; ///< of kQuota, kDrain (never free), kDeadline and kBudget
    bool is_beaten{};                 ///< no start was searched for: none is within the limit
    std::int64_t unknown_parts{};     ///< as Candidate::unknown_parts()
    std::int64_t estimated_operators{};
    bool is_power_missing{};
    bool is_run_missing{};
    std::int64_t unit_count{1};
    std::int64_t knee{1};
    RunTime raw; ///< without transfers, before the correction, beside neighbours
    NeighbourCost neighbours;
    GpuShareCost gpu_share;
    GpuRoomCost gpu_room;
    std::optional<MemoryUse> memory; ///< of the job there; empty: not known
    RunTime compute;                 ///< without transfers
    RunCorrection correction;
    double trust_penalty_s{}; ///< as Candidate::trust_penalty_s
    double wait_s{};
    StartPlan plan;
    WaitTime start;
    double completion_s{};
    double cost{};
    double energy_j{};
    double objective{};
    // Over all counts, each by itself; for bounds no start can beat them.
    double least_objective{};
    double least_completion_s{};
    double least_cost{};
};

/// Deadlines and budgets that are not exceeded by these decide nothing: of all counts that were compared, started as
/// soon as they are free.
struct LimitUse {
    double completion_s{}; ///< the latest
    double cost{};         ///< the greatest; 0 where costs decide nothing
};

/// A unit type that was looked at closely.
struct Found {
    std::uint32_t unit_type{}; ///< index
    PlaceChoice choice;
    std::vector<CountOffer> offers; ///< of a feasible one
    LimitUse limit_use;             ///< of the choice
};

/// Weighs unit types for one request. Not thread-safe: it keeps room for its work.
class PlaceChooser {
  public:
    /// All must outlive it.
    PlaceChooser(const RouteRequest& request, const RouteKnowledge& knowledge);

    /// @param run  of the request's operators there.
    const PlaceChoice& choose(const UnitTypeView& view, const PlaceRun& run, ChoiceAim aim);
    /// The counts that the last choice compared.
    const std::vector<CountChoice>& counts() const { return counts_; }
    /// Of the last choice the counts that keep deadline and budget when they start as soon as they are free; none where
    /// the job had better start later than that. Of more than a few the fewest, doubled again and again, the most, and
    /// the chosen one.
    std::vector<CountOffer> offers() const;
    /// For people; empty when the run times of the last choice are those of its operators' measurements.
    const std::string& run_basis() const { return run_basis_; }
    /// What the time that is asked for lets expect of the request.
    const AskedTime& asked() const { return asked_; }
    /// What history makes of the request's run on units of a type; nothing where it knows none.
    /// @param run  the same, alone, by count of units.
    RunCorrection correction_of(const UnitTypeView& view, const PlaceRun& known, const DividedRun& run) const;
    /// RawPrediction::known_factor of the request.
    double known_factor() const { return known_factor_; }

    /// Whether the counts of the next choices get their costs also where these decide nothing.
    void show_costs() { has_costs_ = true; }
    /// The next choices need not search for a start where a bound says that none could have a better objective.
    void set_limit(double objective) { limit_ = objective; }
    /// True when a start later than the first may be better at some unit type.
    bool may_wait() const;
    double left_s() const { return left_s_; } ///< until the deadline; infinite without
    /// Of the last choice.
    LimitUse limit_use() const;
    /// Whether another request, which differs in nothing but deadline and budget, would make the same choice. False
    /// where a later start than the first may be better: it depends on both.
    bool is_within_limits(const LimitUse& use) const
    {
        return !may_wait() && use.completion_s <= left_s_ && use.cost <= budget_;
    }
    /// Of so much work its project would have taken.
    QuotaUse use_of(const UnitTypeView& view, std::int64_t unit_count, double run_s, double cost) const;

  private:
    struct Weighed {
        RunTime raw;
        NeighbourCost neighbours;
        GpuShareCost gpu_share;
        GpuRoomCost gpu_room;

        /// What it counts for beyond its prediction.
        double penalties_s() const
        {
            return trust_penalty_s + neighbours.penalty_s + gpu_share.penalty_s + gpu_room.penalty_s;
        }

        RunTime compute;
        double trust_penalty_s{};
        StartPlan plan;
        WaitTime start;
        double cost{};
        double energy_j{};

        /// From whichever start on.
        double least_trust_penalty_s() const { return gpu_share.factor > 1 ? 0 : trust_penalty_s; }
    };
    void estimate_run(const UnitTypeView& view);
    void count_unknown_parts(const UnitTypeView& view, const PlaceRun& known);
    DividedRun divided(const PlaceRun& known) const;
    void find_counts(const UnitTypeView& view, const DividedRun& run, std::int64_t knee);
    Filter weigh_counts(const UnitTypeView& view, const PlaceRun& known, const DividedRun& run,
                        const Availability& free);
    /// Beside whom a run is predicted.
    struct Beside {
        NeighbourCost neighbours;
        GpuShareCost gpu_share;
    };
    /// The run on so many units beside those who are expected to have others of the type meanwhile, and what it costs
    /// them.
    RunTime beside(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone, const Availability& free,
                   std::int64_t count, Beside& others) const;
    /// Until a run can start there, network and prices aside; infinite: never.
    double first_start_s(const UnitTypeView& view, const RunTime& run, const Availability& free,
                         std::int64_t count) const;
    RunTime beside_on_host(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone,
                           const Availability& free, std::int64_t count, NeighbourCost& neighbours) const;
    RunTime beside_on_gpu(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone,
                          const Availability& free, std::int64_t count, GpuShareCost& cost) const;
    StartPlan plan_when_free(const UnitTypeView& view, const Availability& free, std::int64_t count,
                             const RunTime& run) const;
    void judge(const UnitTypeView& view, Weighed& weighed, std::int64_t count) const;
    double judged_objective(const Weighed& weighed) const;
    /// @param latest  start; empty: any.
    double bound_of(const UnitTypeView& view, const Weighed& weighed, std::int64_t count,
                    std::optional<Timestamp> latest) const;
    double least_weighed(const UnitPrice& price, const Outcome& least, Timestamp earliest, double run_s,
                         std::int64_t count) const;
    bool is_beyond_limit(const UnitTypeView& view, const Weighed& weighed, std::int64_t count) const;
    bool may_become_cheap(const UnitTypeView& view, std::size_t index) const;
    void find_faults(const UnitTypeView& view, ChoiceAim aim);
    bool is_beaten(const UnitTypeView& view, std::size_t picked) const;
    std::size_t pick() const;
    void settle(const UnitTypeView& view, const Availability& free, std::size_t picked, ChoiceAim aim);
    void settle_bounds(const UnitTypeView& view);
    void plan_later_start(const UnitTypeView& view, const Availability& free, std::size_t picked);
    /// Makes the run, which shares a GPU, the one from a start on that is later than its first.
    void start_later_on_gpu(Weighed& weighed, double start_s) const;
    /// What it computes at least, from whichever start on: those who share its GPU at the first may have gone.
    double least_run_s(const Weighed& weighed) const;

    const RouteRequest* request_;
    const RouteKnowledge* knowledge_;
    TransferRequest transfer_; ///< the request's, at the center of the last choice
    double left_s_;
    double budget_;
    bool has_quota_;
    bool has_costs_;
    AskedTime asked_;
    double known_factor_ = 1;
    double limit_ = Availability::kForEver;
    bool is_unknown_job_{}; ///< neither its operators nor its run times by count are known
    std::optional<RunEstimate> estimate_;
    std::string run_basis_;
    PlaceChoice choice_;
    std::vector<std::int64_t> allowed_;
    std::vector<CountChoice> counts_;
    std::vector<Weighed> weighed_; ///< of each count
    std::vector<int> faults_;      ///< of each count: what it breaks, as find_faults() says
};

} // namespace fathom
