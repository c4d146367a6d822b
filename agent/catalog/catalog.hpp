#pragma once

#include "agent/catalog/reconcile.hpp"

namespace fathom::agent {

/// What this center offers: as units to give away, and as the report to the metascheduler.
struct CenterOffer {
    UnitPlan plan;
    Catalog catalog;
    /// What the settings, or what takes their place, say, and the machine does not have; the fact `differences` has the
    /// same in words.
    std::vector<ResourceDifference> differences{};
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
    std::vector<std::string> nodes{};   ///< of a batch system: a line for each, with all that units are cut by
};
/// Blocks for milliseconds; where a driver of GPUs is not in use, longer.
Hardware look_at_hardware(const AgentConfig& config);
/// Whether the center is to be surveyed again. Memory counts from a hundredth on: virtual machines' varies.
bool has_changed(const Hardware& before, const Hardware& now);
/// What went, what came, for people: "processors 2-3 are gone; device GPU-aa is gone". Long lists are cut short. Pure.
std::string describe_hardware_change(const Hardware& before, const Hardware& now);

/// What a survey goes by besides the config.
struct SurveyOrder {
    CutRule rule = CutRule::kMustFit; ///< for what the config says
    std::vector<UnitCut> wanted{};    ///< by the network's administrators; empty: as the config says
};

/// Looks at the machine, asks the probe program, cuts the units. Blocks. Where there is less than is to be offered, the
/// differences name it.
/// @param executor_facts  what the executor says about itself, for the center's facts.
/// @error kInvalid  the config does not fit the machine; every error with its key.
Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order = {});

/// What a survey came to as it is offered: its facts say the differences in words, and so does the log.
CenterOffer make_offer(ReconciledUnits units, Json facts, RemoteRule remote_resources);

} // namespace fathom::agent
