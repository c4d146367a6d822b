#pragma once

#include "simulator/report/report_figures.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace fathom::simulation {

/// The network, the workload, the policies and what they could know.
/// @param load  load_of() the scenario.
std::string scenario_section(const Scenario& scenario, std::span<const PolicyGroup> policies, double load,
                             const ReportTexts& texts);

/// How it was made, and what was left out of the input.
std::string origin_section(const Scenario& scenario, std::span<const PolicyGroup> policies,
                           const ReportOptions& options, const ReportTexts& texts);

/// Units in all of the network.
std::int64_t units_of(const Network& network);

} // namespace fathom::simulation
