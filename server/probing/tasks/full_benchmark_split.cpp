#include "server/probing/tasks/full_benchmark_split.hpp"

#include "server/probing/tasks/full_benchmark_task.hpp"
#include "server/probing/tasks/probe_task_store.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"

#include <pqxx/pqxx>

namespace fathom::server {

Result<bool> split_full_benchmark(pqxx::work& transaction, ProbeJobWriter& writer, const EndingRun& run)
{
    const std::optional<ProbeTaskRecord> task = lock_task(transaction, run.probe_task_id.value);
    const std::optional<ProbeRunRecord> record = select_run(transaction, run.id.value);
    if (!task || !record || task->origin != "default" || task->document.operators.size() < 2) return false;
    const std::vector<OperatorUse>& operators = task->document.operators;
    const auto middle = operators.begin() + std::ssize(operators) / 2;
    for (const auto& [begin, end] : {std::pair(operators.begin(), middle), std::pair(middle, operators.end())}) {
        NewProbeTask half;
        half.created_by = record->created_by;
        half.state = ProbeTaskState::kReleased;
        half.origin = "default";
        half.document = full_benchmark_task({begin, end});
        const RunPlace place{.unit_type_id = run.unit_type_id,
                             .center_id = run.center_id,
                             .unit_count = run.unit_count,
                             .mode = run.mode,
                             .selection = record->selection,
                             .cause = record->cause,
                             .created_by = record->created_by,
                             .order_id = run.order_id,
                             .count_by = record->count_by,
                             .divides_run_id = run.id.value};
        const Result<ProbeRunId> queued =
            queue_run(transaction, writer, find_or_insert_task(transaction, half).record, place);
        if (!queued && queued.error().code != Errc::kInfeasible) return queued.error();
        if (queued)
            log_after_commit(LogLevel::kInfo, "full_benchmark_divided",
                             {{"probe_run_id", queued->value},
                              {"of_probe_run_id", run.id.value},
                              {"operators", half.document.operators.size()}});
    }
    return true;
}

} // namespace fathom::server
