#pragma once

#include "agent/catalog/unit_plan.hpp"

namespace fathom::agent {

/// What this center offers: as units to give away, and as the report to the metascheduler.
struct CenterOffer {
    UnitPlan plan;
    Catalog catalog;
};

/// Asks `fathom-probe --list --output json` in the environment that jobs get here, for the processors and for each kind
/// of device that units are cut from. Blocks (at most 40 s, and 20 s for each kind of device). A center without a
/// working probe program still runs jobs: it then offers no operators, and says why in the log. When operator keys are
/// trusted, fathom-probe also tries to make a sandbox for uploaded operators.
ProbeAbilities ask_probe_program(const AgentConfig& config, const Host& host);

/// What to do where the machine has less than the config says.
enum class CutRule {
    kMustFit, ///< refuse, for what is missing of cores: the config is new, and may be wrong
    kFitting, ///< offer what there is: the machine may have changed
};

/// What may change while the agent runs, as far as it is seen without disturbing jobs.
struct Hardware {
    std::vector<std::int64_t> cpus; ///< that the agent may use: not those that are offline
    std::int64_t memory_bytes{};
    std::vector<std::string> devices{}; ///< ids
    std::vector<std::string> missing{}; ///< a sentence for each device that does not answer
};
/// Blocks for milliseconds; where a driver of GPUs is not in use, longer.
Hardware look_at_hardware(const AgentConfig& config);
/// Whether the center is to be surveyed again. Memory counts from a hundredth on: virtual machines' varies.
bool has_changed(const Hardware& before, const Hardware& now);

/// Looks at the machine, asks the probe program, cuts the units. Blocks. Where there is less than the config says, the
/// fact `differences` names it.
/// @param executor_facts  what the executor says about itself, for the center's facts.
/// @error kInvalid  the config does not fit the machine; every error with its key.
Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts,
                                  CutRule rule = CutRule::kMustFit);

} // namespace fathom::agent
