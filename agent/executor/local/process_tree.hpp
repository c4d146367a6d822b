#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::agent {

/// Makes orphaned descendants of this process its own children, so that none gets away.
void adopt_orphans();

/// Kills and reaps every descendant of this process, also those that are made meanwhile; needs
/// adopt_orphans(). Gives up after 10 s.
/// @return the most memory that one of them had, in KiB.
std::int64_t kill_descendants();
/// Whether this process has any, also such as have ended and wait to be reaped.
bool has_children();
/// The children of a process, and theirs: those that live now.
std::vector<int> descendants_of(int process);

/// Kills processes whose environment says that they belong to the attempt. A last resort for jobs whose
/// supervisor is gone: a program can change its environment, but then its control group finds it.
void kill_by_environment(const std::string& attempt_id);

} // namespace fathom::agent
