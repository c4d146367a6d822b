#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/decide/prediction/scaling.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// What is known of how old, sure and needed each figure is. All functions take the caller's transaction, block, and
/// let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// The newest valid measurement of an operator at a size on one unit.
struct FigureAge {
    std::string unit_type_id;
    std::string operator_id;
    std::string parameters_key;
    Timestamp measured_at{};
    double interval{}; ///< half the width of its 95 % interval ÷ its median
};
/// Of all active unit types of a center.
std::vector<FigureAge> select_figure_ages(pqxx::transaction_base& transaction, const CenterId& center);

/// How much of the network's work is of a type.
struct JobTypeUse {
    std::string job_type;
    double share{}; ///< of the run time of the jobs that were looked at
};
/// Of the newest jobs, at most 20 000, that ended within 30 days; the most used types first, at most `limit`.
std::vector<JobTypeUse> select_job_type_uses(pqxx::transaction_base& transaction, std::int64_t limit);

/// A center that asks to be measured anew.
struct ProbeRequest {
    CenterId center_id;
    std::string center;
    Timestamp requested_at{};
    std::string reason;
};
/// Of centers that are online and take work.
std::vector<ProbeRequest> select_probe_requests(pqxx::transaction_base& transaction);
/// Unless the center has asked again since.
void clear_probe_request(pqxx::transaction_base& transaction, const ProbeRequest& request);

/// A unit type whose jobs went otherwise than predicted, and that was not measured for it yet.
struct DriftRequest {
    UnitTypeId unit_type_id;
    CenterId center_id;
    Timestamp requested_at{};
};
/// Of centers that are online and take work, the oldest first. A request of more than a day ago is given up.
std::vector<DriftRequest> select_drift_requests(pqxx::transaction_base& transaction);

/// By unit type and operator: when copies side by side of it were last measured there.
using CopiesAges = std::map<std::pair<std::string, std::string>, Timestamp>;
/// Of all active unit types of a center.
CopiesAges select_copies_ages(pqxx::transaction_base& transaction, const CenterId& center);

/// Centers that are online and take work, ordered by name.
std::vector<CenterId> select_open_centers(pqxx::transaction_base& transaction);

/// Unit-seconds that the runs which Fathom itself queued at a center for this cause within a day used, or may.
double select_spent_by_cause(pqxx::transaction_base& transaction, const CenterId& center, const std::string& cause);

/// Ids of a center's unit types that Fathom itself need not measure for this cause now: a run of it, in this mode,
/// waits there, ran there since `since`, or failed there within a day.
std::vector<std::string> select_served_unit_types(pqxx::transaction_base& transaction, const CenterId& center,
                                                  const std::string& cause, const std::optional<Timestamp>& since,
                                                  ScalingMode mode = ScalingMode::kStrong);

/// Ids of a center's unit types on which nothing small can start now: all units are kept for projects, or it is in
/// maintenance.
std::vector<std::string> select_held_unit_types(pqxx::transaction_base& transaction, const CenterId& center);

} // namespace fathom::server
