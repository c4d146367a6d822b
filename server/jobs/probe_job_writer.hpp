#pragma once

#include "server/ports/probe_ports.hpp"

namespace fathom::server {

/// Queues probes as ordinary jobs with the label "probe" (M22). Thread-safe.
class JobsProbeJobWriter final : public ProbeJobWriter {
  public:
    Result<void> insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                  const std::string& submitted_by) override;
    void stop_probe_job(pqxx::work& transaction, const JobId& id) override;
};

} // namespace fathom::server
