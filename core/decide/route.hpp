#pragma once

#include "core/base/id.hpp"
#include "core/decide/predict.hpp"
#include "core/model/job.hpp"

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
};

/// What the router must know of a job.
struct RouteRequest {
    std::vector<OperatorDemand> operators; ///< may be empty: an unknown job
    UnitRequest units;
};

/// One unit type as a place for the job.
struct Candidate {
    UnitTypeId unit_type_id;
    std::string unit_type;
    CenterId center_id;
    std::string center;
    bool feasible{false};
    std::string reason; ///< why not feasible, or what it lost by, or why it won; for people
    std::string
        criterion; ///< for programs, when not feasible: "operators", "unit_type", "center", "unit_count", "closed"
    std::int64_t unit_count{1};
    RunPrediction prediction;
    double wait_s{};       ///< until unit_count units are free
    double completion_s{}; ///< wait_s + prediction.run_s
};

struct Decision {
    std::optional<std::size_t> winner; ///< index into candidates
    std::vector<Candidate> candidates; ///< best first, infeasible last
    /// True when the winner's units are free now; else the job waits for them.
    bool can_start_now{false};
    std::vector<std::string> assumptions; ///< what was not known, for people
};

/// Places one job by what was measured (M8, M13a, M23): among the unit types that can run its operators, the
/// one with the earliest expected completion (wait + predicted run); ties within 1 % go to fewer units,
/// then to the shorter wait, then to the smaller id, so the order of `unit_types` does not matter.
/// A candidate without measurements ranks behind every one with full measurements.
/// Jobs without operators go to the earliest start, then to the unit type with the best measured speed.
/// Count: as asked; "auto" is `units.min` until scaling curves exist.
Decision route(const RouteRequest& request, std::span<const UnitTypeView> unit_types);

/// Candidates that lack a measurement of one of the job's operators not older than `period` (M10):
/// their indices into `unit_types`. Infeasible unit types are left out.
std::vector<std::size_t> unmeasured_candidates(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                                               Timestamp now, std::chrono::seconds period);

/// The explanation that is stored with a placement and shown by `fathom job explain`.
Json to_json(const Decision& decision);

} // namespace fathom
