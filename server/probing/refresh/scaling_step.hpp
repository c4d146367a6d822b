#pragma once

#include "server/ports/probe_ports.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Adds one run to orders whose counts were chosen for scaling (M14, M19), where five counts left the curve open.
/// For the PeriodicTaskRunner. Thread-safe.
class ScalingStep {
  public:
    explicit ScalingStep(ProbeJobWriter& writer) : writer_(&writer) {}

    /// Blocks; pqxx's exceptions pass through. @error as queue_run(), but for a center whose budget is spent.
    Result<void> look(pqxx::work& transaction) const;

  private:
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
