#pragma once

#include "server/ports/probe_ports.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Runs whose center fell silent, or came back without them: marked as lost, and repeated when the center takes work
/// again. Nothing counts twice: the job of a lost run is stopped, and a result that it sends all the same is kept
/// apart. For the PeriodicTaskRunner. Thread-safe.
class LostRuns {
  public:
    explicit LostRuns(ProbeJobWriter& writer) : writer_(&writer) {}

    /// A run is repeated at most twice, each time at sizes drawn anew: its center has seen the old ones. A run whose
    /// place in the center's queue another run of the same task has taken since is not repeated.
    /// Blocks; pqxx's exceptions pass through. @error as queue_run(), but for a center whose budget is spent.
    Result<void> look(pqxx::work& transaction) const;

  private:
    ProbeJobWriter* writer_;
};

/// Queues a run that ended as lost once more, at sizes drawn anew; a task that waits for its end waits for the new one.
/// Where the center's budget has no room, nothing is written: LostRuns looks again.
/// Blocks; pqxx's exceptions pass through. @error as queue_run(), but for a center whose budget is spent.
Result<void> repeat_run(pqxx::work& transaction, ProbeJobWriter& writer, const std::string& run);

} // namespace fathom::server
