#pragma once

#include <cstddef>

namespace fathom {

/// Raises the limit of open files to the highest that the system allows this process, at most about a million: programs
/// that walk through all possible descriptors must come to an end. Call once at start.
/// @return how many files may be open now.
std::size_t raise_descriptor_limit();

/// How many files may be open now.
std::size_t descriptor_limit();

/// What the limit was before, which programs that we start shall have again.
std::size_t descriptor_limit_at_start();

/// Sets the limit of this process, so far as the system allows. Async-signal-safe.
void set_descriptor_limit(std::size_t descriptors);

/// No memory of this process, which holds keys, reaches a core dump or a debugger of the same user. Children that run
/// another program inherit only that they dump no core.
void keep_memory_private();

} // namespace fathom
