#pragma once

#include "core/base/clock.hpp"
#include "core/decide/prediction/scaling.hpp"
#include "server/operators/operator_attachments.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/tasks/probing_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// Where and why one run of a probe task is to be.
struct RunPlace {
    UnitTypeId unit_type_id;
    CenterId center_id;
    std::int64_t unit_count{1};             ///< 0: the center takes what is free there (M14)
    ScalingMode mode{ScalingMode::kStrong}; ///< kThroughput: a copy of the task on each of 2…kMaxProbeCopies units
    std::string selection;                  ///< "center": `unit_type_id` is a proposal
    std::string cause;
    std::string created_by;
    /// Of the order that the run belongs to; runs with the same seed compute the same, at the same sizes (M12).
    /// 0 and empty: an order of its own.
    std::int64_t seed{0};
    std::string order_id{};
    std::string count_by{"order"};              ///< who chose the count: "order", "scaling", "center"
    std::vector<std::string> able_unit_types{}; ///< what the center said when it was asked (M13b)
    std::string repeats_run_id{};               ///< the lost run whose place it takes
    std::string divides_run_id{};               ///< the run of whose operators it measures a part
    std::optional<Timestamp> deadline{};        ///< when it has failed if it cannot have been placed and run
};

/// A seed that nobody can know beforehand, 1..kLargestSeed.
std::int64_t make_seed();

/// The task as it is sent: with a seed, and every operator at a size drawn near the asked one. Pure.
/// @param manifests  of each operator, in the task's order; an operator without one keeps its size.
ProbeTask draw_task(ProbeTask task, const std::vector<std::optional<OperatorManifest>>& manifests, std::int64_t seed);

/// The ordinary job that a probe run is (M22): `fathom-probe` with the task and the packages of uploaded operators as
/// files, on units of one type (or of one center, when the center chooses). Pure.
/// @param task  as it is sent (draw_task).
JobSpec make_probe_job(ProbeTask task, const RunPlace& place, const OperatorAttachments& attachments);

/// Queues a run and its job; a run that is queued there already is joined. `task` must be locked by the
/// transaction (find_or_insert_task, lock_task), so that two callers do not queue the same.
/// @error kInfeasible, kTooLarge  as operator_attachments(); kInfeasible also as check_probe_budget(). Nothing was
///        written then.
Result<ProbeRunId> queue_run(pqxx::work& transaction, ProbeJobWriter& writer, const ProbeTaskRecord& task,
                             const RunPlace& place);

} // namespace fathom::server
