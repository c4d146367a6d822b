#pragma once

#include <functional>
#include <vector>

namespace fathom::server {

/// Does `act` once what this thread runs in Database has been committed, and not where it is rolled back. Work may run
/// again, after a conflict, so it must not count or log itself what it did (log_after_commit() is for lines). Outside
/// of a database's work: at once.
/// @param act  must not fail, and must own what it uses.
void after_commit(std::function<void()> act);

/// What the work of one transaction, or of a part of it, leaves to be done after the commit. Takes all that comes on
/// its thread while it lives, and forgets what was neither run nor handed over. For Database and in_savepoint().
class CommitActs {
  public:
    CommitActs();
    ~CommitActs();
    CommitActs(const CommitActs&) = delete;
    CommitActs& operator=(const CommitActs&) = delete;

    void add(std::function<void()> act) { acts_.push_back(std::move(act)); }
    /// In order. Once, after the commit.
    void run();
    /// Leaves them to the transaction around this one: for a part of it (in_savepoint) that has succeeded.
    void hand_over();

  private:
    std::vector<std::function<void()>> acts_;
    CommitActs* outer_; ///< of the transaction in whose work this one runs, on a connection of its own
};

} // namespace fathom::server
