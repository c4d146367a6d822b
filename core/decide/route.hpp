#pragma once

#include "core/base/id.hpp"
#include "core/decide/plan_start.hpp"
#include "core/decide/predict_units.hpp"
#include "core/model/job.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// A unit type as the router saw it when the snapshot was taken. Plain value.
struct UnitTypeView {
    UnitTypeId id;
    std::string name;
    CenterId center_id;
    std::string center_name;
    std::string resource_type;
    std::vector<std::string> operators; ///< sorted ids
    std::int64_t unit_count{};
    std::int64_t cores_per_unit{};
    /// Empty when it takes work; else why not, for people ("the center is drained").
    std::string closed_reason;
    /// Seconds from now until each reserved unit is expected to be free, one entry a unit, any order.
    std::vector<double> busy_s;
    std::vector<MeasuredOperator> measured; ///< newest of each operator and size, on one unit
    /// How its operators scale over units; nullptr when nothing is known.
    std::shared_ptr<const UnitSpeedups> speedups;
    /// Its network over the week; nullptr when no transfer was ever timed at its center.
    std::shared_ptr<const NetworkProfile> network;
    double trust_factor{1}; ///< above 0, at most 1 (judge_trust): how far its measurements are believed
};

/// What the router must know of a job.
struct RouteRequest {
    std::vector<OperatorDemand> operators; ///< may be empty: an unknown job
    UnitRequest units;
    TransferRequest transfer; ///< with the moment of the decision, the deadline, and whether it may wait
};

/// What one count of units would give.
struct CountChoice {
    std::int64_t unit_count{1};
    double wait_s{};
    double run_s{}; ///< with transfers
    double completion_s{};
};

/// One unit type as a place for the job.
struct Candidate {
    UnitTypeId unit_type_id;
    std::string unit_type;
    CenterId center_id;
    std::string center;
    bool feasible{false};
    std::string reason; ///< why not feasible, or what it lost by, or why it won; for people
    /// For programs, when not feasible: "operators", "unit_type", "center", "unit_count", "closed", "deadline".
    std::string criterion;
    std::int64_t unit_count{1};
    /// Its operators on one unit; run_s, low_s and high_s on unit_count units, transfers included: as long as the
    /// units are held.
    RunPrediction prediction;
    double single_run_s{};                ///< on one unit, without transfers
    double compute_s{};                   ///< on unit_count units, without transfers
    std::int64_t knee{1};                 ///< of the job on this unit type; 1 without scaling curves
    std::string count_reason;             ///< why so many units, where that was ours to choose; for people
    std::vector<CountChoice> counts;      ///< those that were compared, at most 32 of them; of the winner only
    double wait_s{};                      ///< until unit_count units are free
    StartPlan plan;                       ///< of the transfers; it may start later than its units are free
    double completion_s{};                ///< plan.start_s + prediction.run_s
    double trust_factor{1};               ///< of the unit type
    std::vector<std::string> assumptions; ///< of its speed-up; of the winner only

    /// What it is compared by: completion, but computing takes 1 / trust_factor as long as measurements promise, and a
    /// job with a deadline waits for a network window at no cost. The prediction stays what measurements say, so that
    /// jobs can go on to speak for or against them.
    double judged_s(const TransferRequest& request) const;
    std::int64_t unknown_parts() const { return prediction.unknown_operators + (plan.is_network_unknown ? 1 : 0); }
};

struct Decision {
    std::optional<std::size_t> winner; ///< index into candidates
    std::vector<Candidate> candidates; ///< best first, infeasible last
    /// True when the winner's units are free now; else the job waits for them.
    bool can_start_now{false};
    std::vector<std::string> assumptions; ///< what was not known, for people
};

/// Places one job by what was measured (M8, M13a, M20, M23): among the unit types that can run its operators, the
/// one with the earliest expected completion: wait for the units, or for a network window where plan_start() says
/// so, + predicted run with its transfers. Ties within 1 % go to fewer units, then to the earlier start, then to the
/// smaller id, so the order of `unit_types` does not matter.
/// A candidate without measurements ranks behind every one with full measurements, and one whose completion is
/// expected after the deadline is not feasible.
/// Jobs without operators go to the earliest start, then to the unit type with the best measured speed.
/// Count: as asked. "auto": of the counts from `units.min` to the knee of the job's scaling (ScaledRun::knee), at most
/// `units.max`, the one with the earliest completion, ties within 1 % to fewer; `units.min` without operators.
/// `units.ignore_knee` lets it go on to the largest count that the curves know.
Decision route(const RouteRequest& request, std::span<const UnitTypeView> unit_types);

/// Candidates that lack a measurement of one of the job's operators not older than `period` (M10):
/// their indices into `unit_types`. Infeasible unit types are left out.
std::vector<std::size_t> unmeasured_candidates(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                                               Timestamp now, std::chrono::seconds period);

/// The explanation that is stored with a placement and shown by `fathom job explain`.
Json to_json(const Decision& decision);

} // namespace fathom
