#pragma once

namespace fathom::agent {

// Takes what follows the program's name; argv[0] is the subcommand itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use.

/// `fathom-agent gpu-memory`: the memory manager of a node whose GPUs are shared, and what it knows.
int gpu_memory_command(int argc, const char* const* argv);

} // namespace fathom::agent
