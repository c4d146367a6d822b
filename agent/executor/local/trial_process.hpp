#pragma once

#include <functional>

namespace fathom::agent {

/// Whether `trial` succeeds in a child process, which ends with it: what it changes there, as its user or its group,
/// changes nothing here. False, too, where no process can be made. Waits for the child. In a process with threads,
/// `trial` may do only what is allowed between fork() and exec().
bool succeeds_in_child(const std::function<bool()>& trial);

} // namespace fathom::agent
