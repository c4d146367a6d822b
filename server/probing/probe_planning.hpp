#pragma once

#include "server/operators/operators_service.hpp"
#include "server/probing/probe_ports.hpp"

namespace fathom::server {

/// Probes for the router (M10, M11): a job type's task is made from the job's operators and kept.
/// Thread-safe. Both must outlive it.
class ProbePlanning final : public ProbePlanner {
  public:
    ProbePlanning(const OperatorsService& operators, ProbeJobWriter& writer) : operators_(&operators), writer_(&writer)
    {
    }

    Result<std::vector<ProbeRunId>> request_probes(pqxx::work& transaction, const std::string& job_type,
                                                   const std::vector<OperatorUse>& operators,
                                                   const std::vector<UnitTypeId>& unit_types) override;
    Result<bool> probes_pending(pqxx::work& transaction, const std::string& job_type) override;

  private:
    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
};

/// Reads what a probe printed when its job has ended, and keeps it as measurements. Nonsense fails the run
/// with the reason; it never reaches the measurements. Thread-safe. `operators` must outlive it.
class ProbeResults final : public ProbeJobObserver {
  public:
    explicit ProbeResults(const OperatorsService& operators) : operators_(&operators) {}

    Result<void> probe_job_ended(pqxx::work& transaction, const JobId& job, bool succeeded, const std::string& reason,
                                 const std::string& stdout_text) override;

  private:
    const OperatorsService* operators_;
};

} // namespace fathom::server
