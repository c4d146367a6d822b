#pragma once

#include "simulator/report/report_figures.hpp"

#include <string>

namespace fathom::simulation {

/// Units in use at each center over time, a strip each.
std::string unit_strips(const Scenario& scenario, const PolicyGroup& policy, const ReportTexts& texts);

} // namespace fathom::simulation
