#pragma once

#include "agent/executor/kept_file_read.hpp"
#include "schema/link/messages.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace fathom::agent {

/// Reads pieces of kept files on a thread of its own, one after another: the file system that has them may be of a
/// network that is down, and whoever is asked for them has the heartbeats and the jobs of the center to look after.
/// Every query is answered, with bytes or with a refusal that says why: when too many wait, and when one was not read
/// in time. While a read does not come back, no more queries wait behind it. Thread-safe.
class KeptFileReader {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    /// Called by any thread, with what came of a query. It returns at once, and does not call the reader.
    using Tell = std::function<void(link::KeptFilePiece)>;

    struct Limits {
        std::size_t most_waiting = 32;             ///< queries; the metascheduler has 8 on their way
        std::chrono::milliseconds timeout{10'000}; ///< from the query to its answer; below the time that users wait
    };

    KeptFileReader(KeptFileRead read, Tell tell);
    KeptFileReader(KeptFileRead read, Tell tell, Limits limits);
    /// Nothing is told any more. A read that does not come back is left to its thread.
    ~KeptFileReader();
    KeptFileReader(const KeptFileReader&) = delete;
    KeptFileReader& operator=(const KeptFileReader&) = delete;

    void ask(link::KeptFileQuery query, SteadyTime now);
    /// Refuses what was not read in time. Call it now and then.
    void refuse_late(SteadyTime now);

  private:
    struct State;

    std::shared_ptr<State> state_; ///< the thread's, too, which may outlive this
};

} // namespace fathom::agent
