#pragma once

#include "core/model/attempt.hpp"
#include "core/model/job.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What came of a wish for probes.
struct RequestedProbes {
    std::vector<ProbeRunId> runs; ///< queued now, or joined
    /// The runs hold the pre-test of a task that is not released yet (M7); the other unit types follow it.
    bool is_pretest{false};
    std::string obstacle; ///< not empty: there will be no probes; why, for people
};

/// How far the probes of a job type are.
struct ProbeProgress {
    bool is_pending{false};
    std::string refusal; ///< not empty: its probe task was refused; why, for people
};

/// What a job type was seen to execute (M11).
struct LearnedTask {
    std::string job_type;
    std::vector<OperatorUse> operators; ///< of a whole job, resolved
    JobId job;                          ///< the one that it was learned from
};

/// What routing and jobs ask of probing (M10, M11), inside their transactions.
class ProbePlanner {
  public:
    virtual ~ProbePlanner() = default;
    /// Makes or finds the probe task of a job type and queues a run of it on one unit of each unit type; a run
    /// that is already queued there is joined. A new task is tried on one of them first (M7).
    virtual Result<RequestedProbes> request_probes(pqxx::work& transaction, const std::string& job_type,
                                                   const std::vector<OperatorUse>& operators,
                                                   const std::vector<UnitTypeId>& unit_types) = 0;
    virtual Result<ProbeProgress> probe_progress(pqxx::work& transaction, const std::string& job_type) = 0;
    /// Keeps the probe task of a job type, as its last job was; a new one is tried, released and measured wherever
    /// it can run. Returns the task's id.
    virtual Result<ProbeTaskId> keep_learned_task(pqxx::work& transaction, const LearnedTask& learned) = 0;
};

/// What a job executes, as far as anybody knows.
struct JobWork {
    std::string job_type;
    std::string name;
    std::vector<OperatorUse> operators; ///< may be empty
};

/// What probing asks of jobs: the operators of a job from which an expert makes a task (M6).
class JobWorkSource {
  public:
    virtual ~JobWorkSource() = default;
    /// Empty when there is no such job.
    virtual std::optional<JobWork> find_work(pqxx::work& transaction, const std::string& job) = 0;
};

/// How a probe's job ended.
struct EndedProbeJob {
    JobId job;
    bool succeeded{false};
    std::string reason;                    ///< for people
    std::optional<AttemptOutcome> outcome; ///< empty when no attempt was made
    std::string stdout_text;               ///< what fathom-probe printed
    std::string stderr_text;               ///< the end of what it said
};

/// What jobs tells probing when a probe's job has ended, inside the transaction that ends it.
class ProbeJobObserver {
  public:
    virtual ~ProbeJobObserver() = default;
    /// The program of a probe's job has started; its center named the unit types that could have run it (M18).
    virtual void probe_job_started(pqxx::work& transaction, const JobId& job,
                                   const std::vector<std::string>& able_unit_types) = 0;
    virtual Result<void> probe_job_ended(pqxx::work& transaction, const EndedProbeJob& ended) = 0;
    /// An attempt of a probe's job, whose end was known already, reports that its program has ended well. Nothing is
    /// changed by it; it is noted. `ended` has no output.
    virtual Result<void> probe_job_reported_late(pqxx::work& transaction, const EndedProbeJob& ended) = 0;
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
    /// Cancels the job of a run that the caller ends, or has ended: at once when no center can have it, else its center
    /// ends it as soon as it can be reached. A job that has ended stays as it is. Locks the job.
    /// @param cause  for people
    virtual void stop_probe_job(pqxx::work& transaction, const JobId& id, const std::string& cause) = 0;
};

} // namespace fathom::server
