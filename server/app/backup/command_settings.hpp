#pragma once

#include "core/base/log.hpp"
#include "core/base/settings.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fathom::server {

/// What the commands share with the server; the rest of a command's settings it asks for by their keys.
struct CommandSettings {
    std::filesystem::path state_dir;
    std::string database; ///< empty: the embedded one
    LogLevel log_level{LogLevel::kWarning};
};

/// The settings of `fathomd NAME`: its own, those of `shown` with the server's, and all others of the server, about
/// which --help is silent, so that its file of settings and its environment serve the command, too.
SettingsProgram command_program(const std::string& name, std::string description, std::vector<SettingSpec> own,
                                const std::vector<std::string>& shown);

/// @error kInvalid  the state folder has no absolute path.
Result<CommandSettings> to_command_settings(const Settings& settings);

} // namespace fathom::server
