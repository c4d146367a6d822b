#pragma once

#include "core/base/open_file.hpp"

#include <csignal>
#include <sys/types.h>

namespace fathom::profile {

/// A process of our group that does nothing but note the signals it gets: one that it got too was sent to the whole
/// group, so the program has it already, and passing it on would deliver it twice. Not thread-safe.
class GroupWitness {
  public:
    /// `signals` must be blocked. Without a process to spare, every signal counts as ours alone.
    explicit GroupWitness(const sigset_t& signals);
    ~GroupWitness();
    GroupWitness(const GroupWitness&) = delete;
    GroupWitness& operator=(const GroupWitness&) = delete;

    /// Whether the group got this signal too; waits for at most a few milliseconds.
    bool saw(int signal);

  private:
    pid_t process_ = -1;
    OpenFile notes_;
};

} // namespace fathom::profile
