#pragma once

#include "server/app/backup/command_settings.hpp"
#include "server/app/backup/stop_request.hpp"

namespace fathom::server {

/// What a command does; the text of an error is for people.
using CommandWork = Result<void> (*)(const Settings& settings, const CommandSettings& shared, StopRequest& stop);

/// Runs a command: reads its settings, does its work, gives its exit code (database_commands.hpp).
int run_command(const SettingsProgram& program, int argc, const char* const* argv, CommandWork work);

/// For SettingSpec::check of what a command cannot do without.
std::string check_given(std::string_view value);

} // namespace fathom::server
