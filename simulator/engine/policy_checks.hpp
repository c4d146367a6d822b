#pragma once

#include "simulator/engine/network_state.hpp"
#include "simulator/engine/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// Policies are not trusted: what they must not do ends the simulation.
namespace fathom::simulation {

/// kInternal: the policy, or this program, is wrong.
Error broken(std::string detail);

/// What a policy decides on.
struct PolicySituation {
    const Scenario* scenario;
    std::span<const JobOutcome> outcomes; ///< by job
    std::size_t arrived{};                ///< jobs
    double now_s{};
};

/// Whether the job may start there now: it waits, fits, the units are free, and others are expected to slow it or not.
Result<void> check_start(const PolicyStart& start, const PolicySituation& situation, NetworkState& state);

/// Whether the job may be handed over to the queue there.
/// @param possible  the unit types that the job fits
Result<void> check_choice(const PolicyStart& chosen, std::size_t job, std::span<const std::uint32_t> possible,
                          const Network& network);

} // namespace fathom::simulation
