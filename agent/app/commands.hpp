#pragma once

namespace fathom::agent {

// Each takes what follows the program's name; argv[0] is the subcommand itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use.

/// `fathom-agent enrol`: gets this center's first certificate with a one-time token.
int enrol_command(int argc, const char* const* argv);
/// `fathom-agent run`: the daemon.
int run_command(int argc, const char* const* argv);
/// `fathom-agent catalog`: prints what this center would report.
int catalog_command(int argc, const char* const* argv);
/// `fathom-agent balance`: shows the trace of the loops that balance units.
int balance_command(int argc, const char* const* argv);
/// `fathom-agent gpu-memory`: the memory manager of a node whose GPUs are shared, and what it knows.
int gpu_memory_command(int argc, const char* const* argv);
/// `fathom-agent request-probes`: asks to be measured anew.
int request_probes_command(int argc, const char* const* argv);
/// `fathom-agent request-sub-units`: asks to give up or to gain sub-units.
int request_sub_units_command(int argc, const char* const* argv);
/// `fathom-agent supervise DESCRIPTORS ISOLATION`: runs one attempt after another; started by the daemon only.
int supervise_command(int argc, const char* const* argv);

} // namespace fathom::agent
