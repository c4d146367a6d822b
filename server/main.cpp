#include "server/app/application.hpp"
#include "server/app/backup/database_commands.hpp"
#include "server/app/backup/move_database.hpp"

#include <iostream>
#include <string_view>

int main(int argc, char** argv)
{
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "backup") return fathom::server::backup_command(argc - 1, argv + 1);
    if (command == "restore") return fathom::server::restore_command(argc - 1, argv + 1);
    if (command == "move-database") return fathom::server::move_database_command(argc - 1, argv + 1);
    const fathom::SettingsOutcome outcome = fathom::read_settings(fathom::server::server_program(), argc, argv);
    if (outcome.kind == fathom::SettingsOutcome::Kind::kExit) return outcome.exit_code;
    const fathom::Result<fathom::server::ServerSettings> settings =
        fathom::server::to_server_settings(outcome.settings);
    if (!settings) {
        std::cerr << "fathomd: " << settings.error().detail << "\n";
        return 2;
    }
    return fathom::server::run_server(*settings);
}
