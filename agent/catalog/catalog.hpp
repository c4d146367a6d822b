#pragma once

#include "agent/catalog/unit_plan.hpp"

namespace fathom::agent {

/// What this center offers: as units to give away, and as the report to the metascheduler.
struct CenterOffer {
    UnitPlan plan;
    Catalog catalog;
};

/// Asks `fathom-probe --list --output json` in the environment that jobs get here. Blocks (at most 40 s).
/// A center without a working probe program still runs jobs: it then offers no operators, and says why
/// in the log.
/// When operator keys are trusted, fathom-probe also tries to make a sandbox for uploaded operators.
ProbeAbilities ask_probe_program(const AgentConfig& config);

/// Looks at the machine, asks the probe program, cuts the units. Blocks.
/// @param executor_facts  what the executor says about itself, for the center's facts.
/// @error kInvalid  the config does not fit the machine; every error with its key.
Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts);

} // namespace fathom::agent
