#pragma once

#include "simulator/report/report_figures.hpp"

#include <span>
#include <string>

namespace fathom::simulation {

/// Mean completion of each policy as bars, with what it is of the best.
std::string completion_bars(std::span<const PolicyGroup> policies, const ReportTexts& texts);

} // namespace fathom::simulation
