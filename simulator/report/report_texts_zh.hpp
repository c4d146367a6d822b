#pragma once

#include "simulator/report/report_texts.hpp"

namespace fathom::simulation {

extern const ReportTexts kChineseReport;

} // namespace fathom::simulation
