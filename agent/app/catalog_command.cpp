#include "agent/app/commands.hpp"
#include "agent/app/job_executor.hpp"
#include "agent/executor/local/fork_server.hpp"
#include "agent/executor/local/supervise.hpp"
#include "agent/executor/local/system_call_filter.hpp"
#include "core/base/process_limits.hpp"

#include <cstdlib>
#include <iostream>
#include <unistd.h>

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

int supervise_command(int argc, const char* const* argv)
{
    const Result<Isolation> isolation =
        argc == 3 ? decode_isolation(argv[2]) : Result<Isolation>(Error{Errc::kInvalid, "not the agent's call"});
    if (!isolation) {
        std::cerr << "fathom-agent supervise: is started by fathom-agent run only\n";
        return 2;
    }
    set_descriptor_limit(std::strtoul(argv[1], nullptr, 10)); // the agent itself may have more
    // Made once, for all that are forked.
    const std::optional<SystemCallFilter> filter =
        isolation->filters_system_calls ? std::optional<SystemCallFilter>(std::in_place) : std::nullopt;
    if (serve_forks()) supervise(*isolation, filter ? &*filter : nullptr);
    return 0;
}

} // namespace fathom::agent
