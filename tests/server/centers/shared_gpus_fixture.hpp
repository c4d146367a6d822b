#pragma once

#include "server/centers/gpus/job_gpus_store.hpp"
#include "tests/server/centers/support/test_agent.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fathom::server::test {

inline SharedGpu gpu_with(const std::string& name, const std::vector<std::string>& jobs)
{
    SharedGpu gpu{.gpu = name, .capacity_bytes = 80, .free_bytes = 40};
    for (const std::string& job : jobs)
        gpu.jobs.push_back({.job = job});
    gpu.job_count = std::ssize(jobs);
    gpu.is_shared = jobs.size() > 1;
    return gpu;
}

/// Jobs that run at the only center.
inline void insert_running(AgentServer& server, const std::vector<std::pair<std::string, std::string>>& owners_by_job)
{
    for (const auto& [job, owner] : owners_by_job) {
        server.store.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('" + job +
                         "', 'a', 'p', '{}', '" + owner + "')");
        server.store.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, "
                         "decided_by) SELECT 'att_" +
                         job + "', '" + job +
                         "', 1, u.center_id, u.id, 1, 'running', 'test' FROM (SELECT * FROM unit_type LIMIT 1) u");
    }
}

inline std::vector<JobGpuRecord> kept(AgentServer& server, const std::string& job, const JobScope& scope = {})
{
    return server.store
        .run([&](pqxx::work& transaction) -> Result<std::vector<JobGpuRecord>> {
            return select_job_gpus(transaction, job, scope, 200, "").items;
        })
        .value();
}

} // namespace fathom::server::test
