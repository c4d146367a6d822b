#pragma once

#include "agent/executor/executor.hpp"

#include <map>

namespace fathom::agent {

/// What the executor keeps of attempts that are over: removed when their time has come, again and again while something
/// resists. Not thread-safe.
class FinishedFolders {
  public:
    /// The references must outlive it. `keep`: how long what is over stays.
    FinishedFolders(Executor& executor, const Clock& clock, std::chrono::seconds keep)
        : executor_(executor), clock_(clock), keep_(keep)
    {
    }

    /// The attempt is over: its folder goes now, or when it has been kept for its time.
    void add(const AttemptId& attempt);
    /// Removes what is to be removed by now.
    void remove_old();

  private:
    void remove(const AttemptId& attempt);

    Executor& executor_;
    const Clock& clock_;
    std::chrono::seconds keep_;
    std::multimap<Timestamp, AttemptId> due_; ///< when each is to be removed
};

} // namespace fathom::agent
