#pragma once

#include "core/model/attempt.hpp"
#include "core/model/job.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// What routing asks of probing (M10), inside routing's transaction.
class ProbePlanner {
  public:
    virtual ~ProbePlanner() = default;
    /// Makes or finds the probe task of a job type and queues a run of it on one unit of each unit type; a run
    /// that is already queued there is joined. Returns the ids of all the runs.
    virtual Result<std::vector<ProbeRunId>> request_probes(pqxx::work& transaction, const std::string& job_type,
                                                           const std::vector<OperatorUse>& operators,
                                                           const std::vector<UnitTypeId>& unit_types) = 0;
    /// True when a run of the job type's task is still queued.
    virtual Result<bool> probes_pending(pqxx::work& transaction, const std::string& job_type) = 0;
};

/// What jobs tells probing when a probe's job has ended, inside the transaction that ends it.
class ProbeJobObserver {
  public:
    virtual ~ProbeJobObserver() = default;
    /// `stdout_text` is what fathom-probe printed; `succeeded` is the job's end state.
    virtual Result<void> probe_job_ended(pqxx::work& transaction, const JobId& job, bool succeeded,
                                         const std::string& reason, const std::string& stdout_text) = 0;
};

/// How probing queues an ordinary job with the label "probe" (M22), inside its transaction.
///
/// M13d has no field in JobSpec: the order of a job whose probe_run has the selection 'center' carries
/// `center_chooses`, and the unit type that the agent then reports (AttemptStarted::unit_type) becomes the
/// attempt's unit_type_id, where ProbeJobObserver finds it.
class ProbeJobWriter {
  public:
    virtual ~ProbeJobWriter() = default;
    virtual Result<void> insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                          const std::string& submitted_by) = 0;
};

} // namespace fathom::server
