#pragma once

#include "agent/executor/executor.hpp"

#include <filesystem>

namespace fathom::agent {

// Lines of the scripts that batch systems run, for any shell of POSIX. Pure.

/// `text` as one word of a shell.
std::string shell_quoted(std::string_view text);

/// Whether a text has letters, digits and these signs only.
bool has_only(std::string_view text, std::string_view signs);

/// The job's environment (job_environment()), a line for each variable. The script's own, fathom_…, are not the job's.
std::string environment_lines(const RunOrder& run, const std::filesystem::path& work,
                              const std::filesystem::path& programs, const std::string& user);

/// The program as a line of the script.
/// @param launcher  before the words of a command, not of a script; such as `srun `
std::string program_line(const RunOrder& run, const std::string& launcher = "");

/// Before the program's line, which it keeps from running where it fails. Where fathom-stage has not said why, as on a
/// node that lacks it, the script does. Empty: there are no inputs.
std::string staging_line(const RunOrder& run, const std::filesystem::path& programs);

/// After the program, where that succeeded; in the same way. Empty: there are no outputs.
std::string storing_lines(const RunOrder& run, const std::filesystem::path& programs);

} // namespace fathom::agent
