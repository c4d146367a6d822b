#pragma once

#include "core/decide/probing/background_pace.hpp"

#include <chrono>
#include <sys/types.h>
#include <vector>

namespace fathom::server {

/// Lets a child process run only while it takes nothing from others on this host (BackgroundPace): stops it, and lets
/// it go on. Not thread-safe.
class BackgroundProcess {
  public:
    /// The child stands still until a look allows it to run.
    explicit BackgroundProcess(pid_t child);

    /// Time for the next look. A host whose /proc cannot be read is taken to be idle.
    void look();
    /// Whether the child may run until the next look.
    bool may_run() const { return pace_.may_run(); }

    static constexpr std::chrono::milliseconds kPeriod{250};

  private:
    struct Times {
        std::vector<double> busy_s; ///< by processor, since the host started
        double own_s{};
        std::size_t own_processor{};
    };
    Times read() const;

    pid_t child_;
    BackgroundPace pace_;
    Times last_;
    std::chrono::steady_clock::time_point looked_at_;
};

} // namespace fathom::server
