#pragma once

#include "core/base/metrics.hpp"
#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/findings/finding_store.hpp"
#include "server/probing/tasks/probing_store.hpp"

namespace fathom::server {

/// Which results the metascheduler computes itself.
struct VerificationChoice {
    bool is_possible{false}; ///< it has a fathom-probe of its own
    double share{0.125};     ///< of the results after a unit type's first, 0..1
};

/// Reads what a probe printed when its job has ended, and keeps it as measurements. What cannot be true is quarantined
/// as a finding, fails the run with the reason, and never reaches the measurements. A pre-test's end also decides
/// about its task (M7).
/// Thread-safe. All must outlive it.
class ProbeResults final : public ProbeJobObserver {
  public:
    ProbeResults(const OperatorsService& operators, ProbeJobWriter& writer, Metrics& metrics, VerificationChoice choice)
        : operators_(&operators), writer_(&writer), metrics_(&metrics), choice_(choice)
    {
    }

    void probe_job_started(pqxx::work& transaction, const JobId& job,
                           const std::vector<std::string>& able_unit_types) override;
    Result<void> probe_job_ended(pqxx::work& transaction, const EndedProbeJob& ended) override;
    Result<void> probe_job_reported_late(pqxx::work& transaction, const EndedProbeJob& ended) override;

  private:
    void quarantine_result(pqxx::work& transaction, const EndingRun& run, const Finding& finding) const;
    /// A result of a run that had ended.
    void keep_unexpected(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended) const;
    // How a run ends that has no right result: its job did not succeed; it may be honest, but came late; it is wrong.
    Result<void> end_failed(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended);
    Result<void> repeat_late(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended,
                             const Finding& finding);
    Result<void> refuse(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended,
                        const Finding& finding);
    /// What is wrong with the result of a run that ended well; with a right one it is filled.
    Result<std::optional<Finding>> store(pqxx::work& transaction, const EndingRun& run, const std::string& text,
                                         std::optional<ProbeResult>& right) const;

    /// The task of a run at sizes that should take a fraction of the time; empty: there are none.
    std::optional<ProbeTask> smaller_task(const EndingRun& run) const;

    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
    Metrics* metrics_;
    VerificationChoice choice_;
};

} // namespace fathom::server
