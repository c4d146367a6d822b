#pragma once

#include <chrono>
#include <sys/types.h>

namespace fathom {

/// Waits until a descriptor can be read, as at its end.
/// @return false when it cannot by `deadline`.
bool wait_for_input(int descriptor, std::chrono::steady_clock::time_point deadline);

/// Waits until a child of this process has ended, which is then still to be reaped with waitpid().
/// @return false when it has not by `deadline`.
bool wait_for_child(pid_t child, std::chrono::steady_clock::time_point deadline);

} // namespace fathom
