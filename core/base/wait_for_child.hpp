#pragma once

#include "core/base/open_file.hpp"

#include <chrono>
#include <sys/types.h>

namespace fathom {

/// Waits until a descriptor can be read, as at its end.
/// @return false when it cannot by `deadline`.
bool wait_for_input(int descriptor, std::chrono::steady_clock::time_point deadline);

/// Waits until a child of this process has ended, which is then still to be reaped with waitpid().
/// @return false when it has not by `deadline`.
bool wait_for_child(pid_t child, std::chrono::steady_clock::time_point deadline);

/// A descriptor that can be read once a child of this process has ended. None is open where the system gives none: an
/// old kernel, a sandbox, too many open files.
OpenFile open_child_end(pid_t child);

/// Whether a child of this process has ended; it is then still to be reaped with waitpid(). True, too, for one that was
/// reaped already.
bool has_child_ended(pid_t child);

/// How long, in milliseconds, a poll() may take that waits for a child's end among other things: without limit (-1)
/// where `end`, its open_child_end(), is open, and is among what is waited for; else until has_child_ended() is to be
/// asked again.
int child_poll_limit_ms(const OpenFile& end);

/// Waits until a child of this process has ended, which is then still to be reaped with waitpid(), or until a
/// descriptor can be read, without a limit of time.
/// @param end  open_child_end() of the child; where none is open, the child is looked at several times a second.
/// @return whether it waited for the child; false: the descriptor can be read, whatever the child does.
bool wait_for_child_or_input(pid_t child, const OpenFile& end, int descriptor);

/// Waits as long as `child` runs, whatever signals come meanwhile, and reaps it. Leaves `status` alone on errors.
/// @return as waitpid() does.
pid_t reap_child(pid_t child, int& status);

} // namespace fathom
