#pragma once

#include <linux/filter.h>
#include <string>
#include <vector>

namespace fathom::agent {

/// A seccomp filter that takes from a process, and from all that it starts, the system calls that no job needs and that
/// open parts of the kernel to it. The calls fail, as they would where the kernel does not have them or gives no right
/// to them; nothing is killed. Also for programs of the processor's 32-bit instruction set.
class SystemCallFilter {
  public:
    SystemCallFilter();

    /// Puts this thread behind it, for good: takes half a millisecond. The thread must have renounced new privileges.
    /// @return 0, or the error's number: the system does not allow filters.
    int load() const;

  private:
    std::vector<sock_filter> program_;
};

/// Why no filter can be loaded here, found by trying in a process of its own; empty when one can.
std::string why_no_system_call_filter();

} // namespace fathom::agent
