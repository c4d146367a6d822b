#pragma once

#include "server/app/child_process.hpp"

#include <filesystem>
#include <optional>

namespace fathom::server {

/// The metascheduler's own fathom-probe, and how it may run: as a user that shares no process with us, with little
/// memory, and behind all others unless the settings say otherwise.
struct VerifierProgram {
    std::filesystem::path path;               ///< absolute; empty: nothing is verified
    std::optional<UnixUser> user;             ///< whom it runs as; empty: ourselves
    std::uint64_t memory_bytes = 8ULL << 30U; ///< of address space
    std::string group_file;    ///< of a control group that runs when nothing else does; empty: none can be had
    bool is_background = true; ///< it gives way to everything else on this host
};

/// The program of the setting `verify_program`, or, where that is empty, `fathom-probe` beside this program; run as
/// a user of its own when we are root, `fathom-verify` where there is one (own_user). Tries it. Without one that works
/// `path` is empty, and the log says why. Blocks.
/// @param is_background  setting `verify_priority`
VerifierProgram find_verifier(const std::string& setting, bool is_background);

/// Starts it for the task that `task` (a descriptor) holds; what it prints goes to `output`. It ends with the thread
/// that calls this.
/// @error kUnavailable  it could not be started.
Result<pid_t> start_verifier(const VerifierProgram& program, int task, int output);

} // namespace fathom::server
