#pragma once

#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/tasks/probe_task_store.hpp"

namespace fathom::server {

/// Probes for the router (M10) and for what jobs teach (M11): a job type's task is made from the job's operators
/// and kept; a new one is tried before it is used (M7).
/// Thread-safe. Both must outlive it.
class ProbePlanning final : public ProbePlanner {
  public:
    ProbePlanning(const OperatorsService& operators, ProbeJobWriter& writer) : operators_(&operators), writer_(&writer)
    {
    }

    Result<RequestedProbes> request_probes(pqxx::work& transaction, const std::string& job_type,
                                           const std::vector<OperatorUse>& operators,
                                           const std::vector<UnitTypeId>& unit_types) override;
    Result<ProbeProgress> probe_progress(pqxx::work& transaction, const std::string& job_type) override;
    Result<ProbeTaskId> keep_learned_task(pqxx::work& transaction, const LearnedTask& learned) override;

  private:
    Result<ProbeTaskRecord> task_of(pqxx::work& transaction, const std::string& job_type,
                                    const std::vector<OperatorUse>& operators, const JobId* from_job) const;
    Result<RequestedProbes> await_release(pqxx::work& transaction, ProbeTaskRecord task,
                                          std::vector<std::string> unit_types, const std::string& cause) const;

    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
