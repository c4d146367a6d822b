#pragma once

#include "core/base/id.hpp"
#include "core/decide/capacity/availability.hpp"
#include "core/decide/capacity/holds.hpp"
#include "core/decide/capacity/objective.hpp"
#include "core/decide/capacity/plan_start.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/wait_history.hpp"
#include "core/decide/prediction/device_choice.hpp"
#include "core/decide/prediction/operator_estimate.hpp"
#include "core/decide/prediction/predict_run.hpp"
#include "core/decide/prediction/predict_units.hpp"
#include "core/decide/queue/fair_share.hpp"
#include "core/decide/routing/filter_trace.hpp"
#include "core/decide/routing/unit_type_list.hpp"
#include "core/decide/routing/unit_type_view.hpp"
#include "core/model/gpu_share.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// What was learned from jobs that have run; each nullptr where nothing was.
struct RouteKnowledge {
    std::shared_ptr<const RunHistory> runs;
    std::shared_ptr<const WaitHistory> waits;
    std::shared_ptr<const OperatorEstimates> estimates;
};

/// What the router must know of a job.
struct RouteRequest {
    std::string job_type; ///< empty: none, so nothing is learned or corrected by it
    std::string project;
    std::string owner; ///< whose runs of the type teach, then those of the project; empty: all runs do
    std::vector<OperatorDemand> operators; ///< may be empty: an unknown job
    bool takes_operators{};                ///< they are those of its type: the job itself does not name any
    /// A profiled run of its type, for a job that takes its operators from there; nullptr: none is known.
    std::shared_ptr<const KnownRun> known_run;
    UnitRequest units;
    /// After which its run is ended, or the least limit that the same places allow, so that jobs of one kind are
    /// decided together; 0: not known.
    std::int64_t wall_limit_s{};
    SoftwareKinds software;   ///< that its program needs
    std::int64_t asked_s{};   ///< how long its user says that it runs at most; 0: not said, or its operators tell more
    TransferRequest transfer; ///< with the moment of the decision, the deadline, and whether it may wait
    /// Of transfer.in_bytes, what centers keep already and need not fetch; by their ids.
    std::map<std::string, double> kept_in_bytes;
    /// Of transfer.in_bytes, what centers stage before its program starts: what runs take is told without it.
    double staged_in_bytes{};
    std::vector<std::string> sites; ///< JobData::sites
    bool compresses{};              ///< JobData::is_compressed
    Preference prefer;
    std::optional<double> budget; ///< in the currency of the prices; hard
    /// Names of the centers that its project may use; empty: all.
    std::vector<std::string> project_centers;
    std::vector<std::string> refused_by; ///< ids of centers that have said that they have no local user for its user
    Quota quota;                         ///< of its project
    QuotaUse used;                       ///< by its project, with what was decided since
    double gpu_threshold{1};             ///< S6: what a GPU's speed-up must be above; at least 1
    /// At centers with both, S6 sets CPU or GPU unit types aside (Filter::kSpeedup); else it is only told what S6 says.
    bool follows_gpu_threshold{};
    bool is_probe{}; ///< it measures (M22); all the same to a place but one that is quarantined
    /// At unit types whose GPUs jobs share, by their ids: what it is expected to keep beside those that are there now.
    /// Missing: nothing was measured of it and them.
    std::map<std::string, ExpectedGpuShare> gpu_shares;
    /// What pairs of jobs know it by, for who decides on several jobs together; empty: they do not, or it shares no
    /// GPU.
    std::string gpu_kind;
    /// The most that earlier runs like it had of a GPU's memory, where the job says no need; all 0: not known. Not
    /// reserved: it only counts against places whose GPUs have less.
    GpuMemoryRequest learned_gpu_memory;

    RunOwner run_owner() const { return {owner, project}; }
    /// Whether what it finds at a place may depend on who else was placed on its GPUs.
    bool minds_gpu_neighbours() const { return !gpu_kind.empty() || learned_gpu_memory.all_bytes() > 0; }
    /// What it fetches at a center before it computes.
    double in_bytes_at(const CenterId& center) const
    {
        const auto kept = kept_in_bytes.empty() ? kept_in_bytes.end() : kept_in_bytes.find(center.value);
        return kept == kept_in_bytes.end() ? transfer.in_bytes : std::max(transfer.in_bytes - kept->second, 0.0);
    }
    /// Whether its program moves data itself, so that what it takes has the time of that in it.
    bool moves_data_itself() const { return transfer.out_bytes > 0 || transfer.in_bytes > staged_in_bytes; }
    /// What its run is made of: the parts of the known run, else its operators.
    std::span<const OperatorDemand> parts() const
    {
        return known_run ? std::span<const OperatorDemand>(known_run->operators) : operators;
    }
};

/// What one count of units would give.
struct CountChoice {
    std::int64_t unit_count{1};
    double wait_s{};
    double run_s{}; ///< with transfers
    double completion_s{};
    double cost{};
    double objective{};
};

/// One count of units of a place: for who decides on several jobs together (core/schedule).
struct CountOffer {
    std::int64_t unit_count{1};
    double run_s{}; ///< with transfers: as long as the units are held; 0: not known
    /// What the owner counts beyond that: Candidate::trust_penalty_s, what it costs neighbours, or they cost it beyond
    /// its prediction, and what starts take there once the units are free.
    double beyond_s{};
    double objective{};
};

/// A job of unknown length must not look as if it took no time.
inline constexpr double kMinHeld_s = 1;

/// What a prediction rests on (the ladder of predictions, docs/routing.md).
struct PredictionRung {
    std::string rung; ///< "runs", "reference", "operators", "type"
    double weight{};  ///< 0..1, of its logarithm in the prediction; they sum to 1
    std::string text; ///< "3 runs of its type there", for people
};

/// What other jobs on its host are taken to cost a run.
struct NeighbourCost {
    bool is_known{};        ///< a load curve of one of its operators is; else it is predicted as if it were alone
    double busy_cores{};    ///< of its host that others are expected to hold meanwhile, on average
    double factor{1};       ///< of the raw prediction over that alone
    double pressure{};      ///< on memory, that each of those cores is taken to make, in bubbles
    double slowed_unit_s{}; ///< what it costs those jobs: seconds by which they hold units longer
    double penalty_s{};     ///< the same in seconds of its own units, which the place counts for beyond its prediction
};

/// What others on the GPU that it would get a part of are taken to cost a run.
struct GpuShareCost {
    bool is_known{};    ///< something was measured of it and them, and they are there when it starts
    double share{1};    ///< of its speed alone, beside them
    double spread{};    ///< how far off that may be
    double until_s{};   ///< from now, when the last of them is expected to be gone
    double alone_s{};   ///< a run on a GPU of its own, before the correction
    double factor{1};   ///< of the raw prediction over that on a GPU of its own; they are not there for all of it
    double penalty_s{}; ///< of a job that names no operators, whose prediction is what runs of its type took beside
                        ///< neighbours of their own: what the place counts for beyond its prediction
    std::int64_t neighbours{};
    PairSource basis{PairSource::kMeasured};
};

/// What it counts for that no GPU which jobs share there has the memory that earlier runs of the job's kind had.
struct GpuRoomCost {
    GpuMemoryRequest had;         ///< by these
    std::int64_t missing_bytes{}; ///< for that, with a gap for growth, on the GPU with most room; 0: it has it
    double penalty_s{};           ///< by which the place counts as later
};

/// One unit type as a place for the job.
struct Candidate {
    UnitTypeId unit_type_id;
    std::string unit_type;
    CenterId center_id;
    std::string center;
    bool feasible{false};
    std::string reason;               ///< why not feasible, or what it lost by, or why it won; for people
    std::optional<Filter> removed_by; ///< when not feasible
    std::int64_t unit_count{1};
    /// Its operators on one unit as measurements have them; run_s, low_s and high_s on unit_count units, corrected by
    /// history, transfers included: as long as the units are held.
    RunPrediction prediction;
    double single_run_s{};    ///< on one unit, without transfers, corrected
    double compute_s{};       ///< on unit_count units, without transfers, corrected
    RunTime raw;              ///< as compute_s, but before the correction; all 0 when nothing is predicted
    NeighbourCost neighbours; ///< in `raw`
    GpuShareCost gpu_share;   ///< in `raw`, but for its penalty_s
    GpuRoomCost gpu_room;
    std::optional<MemoryUse> memory; ///< of the job there; empty: not known
    RunCorrection correction;
    /// Seconds of computing that it counts for beyond its prediction, because its measurements are not fully believed:
    /// what they let expect takes 1 / trust_factor as long, and what history has corrected already is not counted
    /// twice.
    double trust_penalty_s{};
    std::vector<PredictionRung> rungs; ///< that its run time rests on, the heaviest first; of the winner only
    std::string run_basis;        ///< for people, when the run time is not from its own operators' measurements there
    std::int64_t knee{1};         ///< of the job on this unit type; 1 without scaling curves
    std::int64_t whole_devices{}; ///< of units that others could have parts of, and of which it leaves nobody any
    std::string gpu_memory_obstacle; ///< what of GPU memory it waits for; empty: for none; for people
    std::string count_reason;        ///< why so many units, where that was ours to choose; for people
    std::vector<CountChoice> counts; ///< those that were compared, at most 32 of them; of the winner only
    /// Of all feasible ones, and of CPUs that Filter::kSpeedup removes: counts within deadline and budget; none: it
    /// starts later.
    std::vector<CountOffer> offers;
    double wait_s{};         ///< until unit_count units are free
    double closed_until_s{}; ///< end of the last maintenance that it waits past; 0: none
    WaitTime start;          ///< when it really starts, with what starts take beyond that: 80 % interval
    StartPlan plan;          ///< of the transfers; it may start later than its units are free
    double completion_s{};   ///< the expected start (start.wait_s) + prediction.run_s
    double cost{};           ///< of all its units from plan.start_s on, in the network's currency
    double energy_j{};       ///< 0: not known
    double objective{};      ///< what it is compared by: objective() of judged_s(), cost and energy_j
    double trust_factor{1};  ///< of the unit type
    bool is_power_missing{}; ///< the job prefers by energy, and the power of the unit type is not known
    bool is_run_missing{};   ///< the job has no operators, and its type's runs say nothing of this unit type
    std::vector<std::string> assumptions; ///< of its speed-up; of the winner only

    /// The completion that it is compared by: with trust_penalty_s, what it costs neighbours, what of theirs is not in
    /// its prediction and what GPU memory may be missing, and a job with a deadline waits for a network window at no
    /// cost. The prediction stays what measurements say, so that jobs can go on to speak for or against them.
    double judged_s(const TransferRequest& request) const;
    std::int64_t unknown_parts() const
    {
        return prediction.unknown_operators + (plan.is_network_unknown ? 1 : 0) + (is_power_missing ? 1 : 0) +
               (is_run_missing ? 1 : 0);
    }
    /// How long its units count as taken.
    double held_s() const { return std::max(prediction.run_s, kMinHeld_s); }
};

/// What would make another choice right (core/decide/explanation/counterfactual.hpp).
struct Counterfactual {
    /// "wait", "price", "trust", "deadline", "budget", "preference", "units", "measurement", "priority"
    std::string kind;
    std::string center; ///< of the place that would win, or become possible
    std::string unit_type;
    double needed{};  ///< of what `kind` names: seconds, currency, share; 0 where a number says nothing
    std::string text; ///< "beta/core would win if its queue were 12 min shorter", for people
};

struct Decision {
    std::optional<std::size_t> winner; ///< index into candidates
    /// Best first, infeasible last. Of more than kMaxCandidatesKept the best, and of the infeasible one of each filter
    /// and center as long as there is room.
    std::vector<Candidate> candidates;
    FilterTrace filter_trace; ///< of all
    /// True when the winner's units are free now; else the job waits for them.
    bool can_start_now{false};
    std::string
        quota_obstacle; ///< what its project has taken already that keeps the winner from starting now; for people
    /// Its priority rank among the jobs that wait, where these were decided together (core/decide/queue/order_jobs);
    /// for people. Then the winner is where that put it. Set by the router, not by route().
    std::string rank_text;
    std::vector<std::string> assumptions;        ///< what was not known, for people
    std::vector<Counterfactual> counterfactuals; ///< at most 8, the nearest first
    std::vector<DeviceChoice> devices;           ///< of the centers where it can run on CPUs and on GPUs
};
inline constexpr std::size_t kMaxCandidatesKept = 64;

class RouteColumns;

/// The unit types of a snapshot laid out for scanning: what is the same for all jobs of one kind (which unit types can
/// run it at all, its predicted run times by count, the least that it could cost) is computed once and kept, so that a
/// decision looks closely only at places that could still win (branch and bound: a place whose lower bound is worse
/// than the best found is never evaluated). Not thread-safe.
class RouteTable {
  public:
    /// What the list shows must outlive the table. Between decisions it may show other views of the same unit types
    /// when changed() is told: with other availability and holds; nothing else may differ.
    /// @param columns  what is kept of these unit types from one table to the next (core/decide/routing/route_columns);
    ///                 nullptr: nothing.
    explicit RouteTable(std::shared_ptr<const UnitTypeList> unit_types, RouteKnowledge knowledge = {},
                        std::shared_ptr<RouteColumns> columns = nullptr);
    explicit RouteTable(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge = {});
    ~RouteTable();
    RouteTable(RouteTable&&) noexcept;
    RouteTable& operator=(RouteTable&&) noexcept;

    /// The availability or the holds of this unit type have changed.
    void changed(std::size_t unit_type);
    /// From here on decisions are those of a table that is made now, to the last bit, at a fraction of the time.
    void begin_batch();

    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

/// Places one job by what was measured (M8, M13a, M20, M23): of the unit types that pass all filters (Filter, in order)
/// the one of least objective(): expected completion (wait for the units, or for a network window or a cheaper hour
/// where plan_start() says so, + predicted run with its transfers), money and energy, weighted by what the job prefers.
/// Ties within 1 % go to fewer units, then to the earlier start, then to the smaller id, so the order of the unit types
/// does not matter, and neither does whether a table was used before. A candidate without measurements ranks behind
/// every one with full measurements. Deadline and budget are hard. Jobs of which nothing is known go to the earliest
/// start, then to the unit type with the best measured speed. Count: as asked. "auto": of the counts from `units.min`
/// to the knee of the job's scaling (ScaledRun::knee), at most `units.max`, the one of least objective, ties within 1 %
/// to fewer; `units.min` without operators. `units.ignore_knee` lets it go on to the largest count that the curves
/// know. Last, Filter::kSpeedup sets aside what S6 speaks against (core/decide/routing/device_ruling): the end is never
/// more than gpu_threshold times as late as without it, and at a threshold of 1 never later.
Decision route(const RouteRequest& request, RouteTable& table);
/// The same with a table made for this one decision.
Decision route(const RouteRequest& request, const UnitTypeList& unit_types, const RouteKnowledge& knowledge = {});

/// The feasible places of a decision, in its order, without anything that is only there for people.
struct OfferedPlaces {
    struct Place {
        std::uint32_t unit_type{}; ///< index
        std::vector<CountOffer> offers;
    };
    /// The decision has a winner, whose units it would take as soon as they are free: neither its project's quota nor a
    /// network window keeps it from that.
    bool wants_units{};
    /// Filter::kSpeedup has set GPU places aside, which are not among these: it may not where less is free. CPU places
    /// that it sets aside are the last ones: what GPUs are worth to other jobs S6 does not know.
    bool leaves_out_devices{};
    std::vector<Place> places;
};

/// What route() would find now, for who decides on many jobs together: at half the price.
OfferedPlaces offered_places(const RouteRequest& request, RouteTable& table);

/// As much of a decision as jobs need that only wait.
struct BriefDecision {
    /// Its only candidate is the winner, without what is there for people. Without a winner it is the whole decision,
    /// which says why there is none.
    Decision decision;
    OfferedPlaces offered;
};

/// What route() and offered_places() would find now, at the price of the latter.
BriefDecision route_briefly(const RouteRequest& request, RouteTable& table);

} // namespace fathom
