#pragma once

#include "core/base/metrics.hpp"
#include "server/ports/probe_ports.hpp"

namespace fathom::server {

/// Queues probes as ordinary jobs with the label "probe" (M22). Thread-safe.
class JobsProbeJobWriter final : public ProbeJobWriter {
  public:
    /// @param metrics  counts the jobs that it ends; nullptr: nobody counts them. Must outlive it.
    explicit JobsProbeJobWriter(Metrics* metrics = nullptr) : metrics_(metrics) {}

    Result<void> insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                  const std::string& submitted_by) override;
    void stop_probe_job(pqxx::work& transaction, const JobId& id, const std::string& cause) override;

  private:
    Metrics* metrics_;
};

} // namespace fathom::server
