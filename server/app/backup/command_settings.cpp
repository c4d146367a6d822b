#include "server/app/backup/command_settings.hpp"

#include "server/app/server_settings.hpp"

#include <algorithm>

namespace fathom::server {

SettingsProgram command_program(const std::string& name, std::string description, std::vector<SettingSpec> own,
                                const std::vector<std::string>& shown)
{
    SettingsProgram program = server_program();
    program.name = "fathomd " + name;
    program.description = std::move(description);
    for (SettingSpec& spec : program.specs) {
        spec.is_hidden = std::find(shown.begin(), shown.end(), spec.key) == shown.end();
        if (spec.is_hidden) spec.check = nullptr; // the server's business
        if (spec.key == "log_level") spec.default_value = "warning";
        own.push_back(std::move(spec));
    }
    program.specs = std::move(own);
    return program;
}

Result<CommandSettings> to_command_settings(const Settings& settings)
{
    CommandSettings typed;
    std::error_code error;
    typed.state_dir = std::filesystem::absolute(settings.text("state_dir"), error).lexically_normal();
    if (error) return Error{Errc::kInvalid, "state_dir: " + error.message()};
    typed.database = settings.text("database");
    typed.log_level = parse_log_level(settings.text("log_level"));
    return typed;
}

} // namespace fathom::server
