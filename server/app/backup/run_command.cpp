#include "server/app/backup/run_command.hpp"

#include "core/base/process_limits.hpp"

#include <iostream>
#include <signal.h>

namespace fathom::server {

int run_command(const SettingsProgram& program, int argc, const char* const* argv, CommandWork work)
{
    const SettingsOutcome outcome = read_settings(program, argc, argv);
    if (outcome.kind == SettingsOutcome::Kind::kExit) return outcome.exit_code;
    const Result<CommandSettings> shared = to_command_settings(outcome.settings);
    if (!shared) {
        std::cerr << program.name << ": " << shared.error().detail << "\n";
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    keep_memory_private(); // passwords pass through it
    StopRequest stop;
    start_log("fathomd", shared->log_level);
    const Result<void> done = work(outcome.settings, *shared, stop);
    if (done) return 0;
    if (const std::optional<int> number = stop.seen()) {
        std::cerr << program.name << ": stopped; nothing was written" << std::endl;
        return 128 + *number;
    }
    std::cerr << program.name << ": " << done.error().detail << std::endl;
    return 1;
}

std::string check_given(std::string_view value)
{
    return value.empty() ? "must be given" : "";
}

} // namespace fathom::server
