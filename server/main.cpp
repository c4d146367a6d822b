#include "server/app/application.hpp"

#include <iostream>

int main(int argc, char** argv)
{
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
