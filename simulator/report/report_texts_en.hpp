#pragma once

#include "simulator/report/report_texts.hpp"

namespace fathom::simulation {

extern const ReportTexts kEnglishReport;

} // namespace fathom::simulation
