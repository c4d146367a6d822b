#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/decide/prediction/scaling.hpp"
#include "core/model/probe_result.hpp"
#include "server/operators/operator_library.hpp"
#include "server/probing/tasks/probe_task_store.hpp"
#include "server/store/page.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of probe runs. All functions take the caller's transaction, block,
/// and let pqxx's exceptions through to Database::run.
namespace fathom::server {

struct ProbeRunRecord {
    ProbeRunId id;
    ProbeTaskId probe_task_id;
    CenterId center_id;
    std::string center;
    UnitTypeId unit_type_id;
    std::string unit_type;
    std::int64_t unit_count{1};
    ScalingMode mode{ScalingMode::kStrong};
    std::string selection; ///< "catalog", "ask", "user", "center"
    std::string count_by;  ///< "order", "scaling", "center"
    std::string cause;     ///< "command", "arrival", "schedule", "catalog_change", "pretest", "learned"
    JobId job_id;
    std::string state; ///< "queued", "succeeded", "failed", "cancelled", "lost"
    std::string error;
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> ended_at;
    std::optional<double> queue_wait_s; ///< from its order to its start, in the network's queue and its center's
    std::string order_id;
    std::string repeats_run_id; ///< the lost run whose place it takes; empty for none
    std::string divides_run_id; ///< the run of whose operators it measures a part; empty for none
    Json able_unit_types;       ///< names (M18); empty when the center did not say
    Json units;                 ///< indices of the units that it held; null before it started
    Json cpus;                  ///< their processors; null before it started
    std::string verification;   ///< "none", "pending", "right", "wrong", "impossible"
    std::string verification_detail;
    std::optional<double> busy_cores; ///< of its host, held by other jobs meanwhile; empty: not known, or no result
    Json document;                    ///< the task as it was sent; null in lists
    Json result;                      ///< null in lists and until it succeeded
};

struct NewProbeRun {
    ProbeRunId id;
    ProbeTaskId probe_task_id;
    CenterId center_id;
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    ScalingMode mode{ScalingMode::kStrong};
    std::string selection;
    std::string cause;
    JobId job_id;
    std::string created_by;
    ProbeTask document; ///< as it is sent
    std::string order_id;
    std::string count_by;
    std::vector<std::string> able_unit_types;
    std::string repeats_run_id;
    std::string divides_run_id;
};
/// The job must have been inserted before.
void insert_run(pqxx::transaction_base& transaction, const NewProbeRun& run);
std::optional<ProbeRunRecord> select_run(pqxx::transaction_base& transaction, const std::string& id);
/// The queued run of a task on so many units of a type, if there is one.
std::optional<ProbeRunId> find_queued_run(pqxx::transaction_base& transaction, const ProbeTaskId& task,
                                          const UnitTypeId& unit_type, std::int64_t unit_count,
                                          ScalingMode mode = ScalingMode::kStrong);

struct RunFilter {
    std::string state;
    std::string unit_type; ///< id or "center/unit_type"
    std::string probe_task;
    std::string order{};
};
/// Newest first; `after` is an id. Empty filters take all.
Page<ProbeRunRecord> select_runs(pqxx::transaction_base& transaction, const RunFilter& filter, std::int64_t size,
                                 const std::string& after);
/// These, by id, as a list shows them: without documents and results. Ids of none are left out.
std::vector<ProbeRunRecord> select_these_runs(pqxx::transaction_base& transaction, const std::vector<std::string>& ids);
/// True when the run's job is at a center that fell silent past its limit.
bool is_run_lost(pqxx::transaction_base& transaction, const ProbeRunId& run);
bool has_queued_run(pqxx::transaction_base& transaction, const std::string& job_type);

/// The run that a probe's job stands for, locked with its task, and what its end needs.
struct EndingRun {
    ProbeRunId id;
    ProbeTaskId probe_task_id;
    bool is_pretest{false}; ///< its task waits for this run to pass or to be refused
    bool queued{};          ///< else its end is known already
    std::string state;      ///< of the row
    JobId job_id;
    std::string order_id;
    bool is_repeat{}; ///< of a run that was lost
    std::int64_t unit_count{1};
    ScalingMode mode{ScalingMode::kStrong};
    UnitTypeId unit_type_id; ///< where it really ran: what the newest attempt says
    CenterId center_id;
    bool job_cancelled{};
    ProbeTask task;  ///< as it was sent: with its seed, at drawn sizes
    ProbeTask asked; ///< the same operators at the sizes that the results are for
};
std::optional<EndingRun> lock_run_of_job(pqxx::transaction_base& transaction, const JobId& job);
/// What the center said when the run's job started: names of all its unit types that could have run it (M18).
void update_able_unit_types(pqxx::transaction_base& transaction, const JobId& job,
                            const std::vector<std::string>& names);
/// The unit types on which a run of the task, not of copies of it, has succeeded within `age`: ids.
std::set<std::string> select_measured_by(pqxx::transaction_base& transaction, const ProbeTaskId& task,
                                         std::chrono::seconds age);
void end_run(pqxx::transaction_base& transaction, const ProbeRunId& id, const std::string& state,
             const std::string& error);

Json to_json(const ProbeRunRecord& run);

} // namespace fathom::server
