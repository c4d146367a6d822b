#pragma once

#include "simulator/report/report_figures.hpp"

#include <span>
#include <string>

namespace fathom::simulation {

// The parts of a report that are tables and text.

/// All figures of all policies: a row each figure, a column each policy.
std::string comparison_table(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts);

/// Figures of each project and each center, policy by policy.
std::string part_tables(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts);

/// What each figure means.
std::string definitions_section(const ReportTexts& texts);

enum class TableOf { kFigures, kText };

/// Rows of cells of markup, the first cell of each a heading. It scrolls by itself where it is too wide.
std::string table_of(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows,
                     TableOf content = TableOf::kFigures);

/// Names and what they are, as a table without headings.
std::string facts_table(const std::vector<std::pair<std::string, std::string>>& rows);

} // namespace fathom::simulation
