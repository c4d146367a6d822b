#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/probe_task.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of probe tasks. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

/// How far a probe task is on its way into use (M7). `draft → testing → tested → released → retired`, or `refused`
/// from testing; a task that was made for a job goes from testing to released by itself.
enum class ProbeTaskState { kDraft, kTesting, kTested, kReleased, kRefused, kRetired };
std::string_view to_string(ProbeTaskState state);
std::optional<ProbeTaskState> parse_probe_task_state(std::string_view text);

struct ProbeTaskRecord {
    ProbeTaskId id;
    std::string name;
    std::string job_type;
    std::string origin; ///< "job", "expert", "default"
    ProbeTask document;
    Timestamp created_at{};
    std::string created_by;
    ProbeTaskState state{ProbeTaskState::kDraft};
    std::string state_reason; ///< why it is refused, or why its last test did not end
    Timestamp state_changed_at{};
    std::int64_t version{1};
    std::string from_job;       ///< id; empty when nobody said
    std::string pretest_run_id; ///< empty until it was tried
    std::optional<double> pretest_s;
    bool releases_itself{false};
    std::vector<std::string> awaited_unit_types; ///< ids
    std::string awaited_cause;
    std::string scaled_to; ///< id of the task of smaller sizes that is measured instead; empty: none
};

struct NewProbeTask {
    std::string job_type;
    std::string origin;
    ProbeTask document; ///< operators resolved: versions and all parameters stand in it
    std::string created_by;
    ProbeTaskState state{ProbeTaskState::kDraft};
    std::string from_job{};
};

struct FoundTask {
    ProbeTaskRecord record;
    bool created{false};
};
/// Adds a task, or finds the equal one of the same job type. The row stays locked until the transaction
/// ends, so that nobody else queues runs of it meanwhile.
FoundTask find_or_insert_task(pqxx::transaction_base& transaction, const NewProbeTask& task);
std::optional<ProbeTaskRecord> select_task(pqxx::transaction_base& transaction, const std::string& id);
/// As select_task, locked until the transaction ends.
std::optional<ProbeTaskRecord> lock_task(pqxx::transaction_base& transaction, const std::string& id);
/// The newest released task of a job type, locked until the transaction ends.
std::optional<ProbeTaskRecord> lock_released_task(pqxx::transaction_base& transaction, const std::string& job_type);
/// The task of a job type whose state changed last.
std::optional<ProbeTaskRecord> select_latest_task(pqxx::transaction_base& transaction, const std::string& job_type);

/// Empty texts take all.
struct TaskFilter {
    std::string state;
    std::string job_type;
};
/// Newest first; `after` is an id.
Page<ProbeTaskRecord> select_tasks(pqxx::transaction_base& transaction, const TaskFilter& filter, std::int64_t size,
                                   const std::string& after);

/// Writes what may change of a task: state, reason, test, and what it waits for; its version grows.
/// `task` must be locked, and is brought up to date.
void update_task_state(pqxx::transaction_base& transaction, ProbeTaskRecord& task);

Json to_json(const ProbeTaskRecord& task);

} // namespace fathom::server
