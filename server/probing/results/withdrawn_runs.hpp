#pragma once

#include "server/ports/probe_ports.hpp"
#include "server/ports/probe_run_terminator.hpp"

namespace fathom::server {

/// Ends runs whose uploaded code was withdrawn after they were queued, wherever they are by then. A task whose pre-test
/// ends so is a draft again. Thread-safe.
class WithdrawnRuns final : public ProbeRunTerminator {
  public:
    explicit WithdrawnRuns(ProbeJobWriter& writer) : writer_(&writer) {}

    Result<std::int64_t> end_withdrawn_runs(pqxx::work& transaction, const std::string& operator_id,
                                            std::int64_t version) override;

  private:
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
