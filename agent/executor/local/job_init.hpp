#pragma once

#include "agent/executor/local/child_stack.hpp"
#include "core/base/result.hpp"

#include <cstdint>
#include <optional>

namespace fathom::agent {

/// The first process of a job's PID namespace: it reaps orphans, and with it everything in there ends at once.
struct JobInit {
    int pid{};
    int lifeline{-1}; ///< closing it, or the death of who holds it, ends the namespace
};

/// What an init waits at, and what JobInit holds of it.
struct Lifeline {
    int init_end{-1};
    int our_end{-1};
};
/// @error kUnavailable  too many files are open.
Result<Lifeline> make_lifeline();

enum class InitParent { kCaller, kCallersParent };

/// Makes a PID namespace: all further children of this process, which must have one thread, are born in it. Call it
/// once in a process; it does not close the lifeline.
/// @param stack  of the init; must outlive it.
/// @return the init's process.
/// @error kUnavailable  the system does not allow it.
Result<int> start_init(const Lifeline& lifeline, const ChildStack& stack, InitParent parent);

/// Ends everything in the namespace and waits, at most 10 s, until that is done; the processor time of what was
/// killed then counts as that of this process's children.
/// @return the most memory that a process in there had, in KiB; empty when they did not end in time.
std::optional<std::int64_t> end_init(const JobInit& init);

} // namespace fathom::agent
