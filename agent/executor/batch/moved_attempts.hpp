#pragma once

#include "core/base/id.hpp"
#include "core/base/open_file.hpp"

#include <set>
#include <utility>

namespace fathom::agent {

/// Attempts of which there is something to tell, and a descriptor that is readable then (Executor::changes()). The
/// caller keeps all but descriptor(), wake() and hush() from running at the same time.
class MovedAttempts {
  public:
    MovedAttempts();

    int descriptor() const { return descriptor_.number(); }
    bool is_empty() const { return moved_.empty(); }
    void add(const AttemptId& id);
    /// The descriptor becomes readable: there is something else to tell.
    void wake() const;
    /// It is readable no more, until the next add() or wake(). To be called before what there is is taken.
    void hush() const;
    std::set<AttemptId> take() { return std::exchange(moved_, {}); }

  private:
    OpenFile descriptor_;
    std::set<AttemptId> moved_;
};

} // namespace fathom::agent
