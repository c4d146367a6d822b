#pragma once

namespace fathom::agent {

/// Becomes a command, which is searched in PATH.
/// @return 127, as shells have it, where it cannot be started; standard error then has the cause
int become(char* const* command);

/// Runs a command to its end. Signals that ask us to end are meant for the command, which is in our process group;
/// where it is killed by a signal, we are killed by the same one.
/// @return its exit code; 127 where it cannot be started
int run_command(char* const* command);

} // namespace fathom::agent
