#include "server/probing/tasks/task_document.hpp"

#include "core/base/log_limit.hpp"

namespace fathom::server {

ProbeTask read_task_document(const std::string& task_id, const pqxx::field& document)
{
    Result<ProbeTask> task = parse_probe_task(to_json_value(document));
    if (task) return std::move(*task);
    log_limited("probe_task_unreadable", {{"probe_task_id", task_id}, {"error", describe(task.error())}});
    ProbeTask unreadable;
    unreadable.name = task_id;
    return unreadable;
}

} // namespace fathom::server
