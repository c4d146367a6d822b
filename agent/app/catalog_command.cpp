#include "agent/app/catalog_command.hpp"

#include "agent/app/job_executor.hpp"

#include <iostream>

namespace fathom::agent {
namespace {

Result<CenterOffer> survey(const AgentConfig& config)
{
    const Result<std::unique_ptr<Executor>> executor = make_described_executor(config);
    if (!executor) return executor.error();
    MachineNotes notes;
    return survey_machines(config, (*executor)->facts(), {}, notes);
}

} // namespace

int catalog_command(int argc, const char* const* argv)
{
    const SettingsOutcome outcome =
        read_settings(agent_settings("fathom-agent catalog",
                                     "Prints, as JSON, what this center would report to the metascheduler.", false),
                      argc, argv);
    if (outcome.kind == SettingsOutcome::Kind::kExit) return outcome.exit_code;
    const Result<AgentConfig> config = make_agent_config(outcome);
    if (config) start_log("fathom-agent", config->log_level);
    const Result<CenterOffer> offer = config ? survey(*config) : Result<CenterOffer>(config.error());
    if (!offer) {
        std::cerr << "fathom-agent catalog: " << describe(offer.error()) << "\n";
        return 1;
    }
    std::cout << to_json(offer->catalog).dump(2) << "\n";
    return 0;
}

} // namespace fathom::agent
