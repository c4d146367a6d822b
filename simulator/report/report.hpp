#pragma once

#include "simulator/figures/figures.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fathom::simulation {

enum class ReportLanguage { kEnglish, kChinese };
/// "en" or "zh".
std::optional<ReportLanguage> parse_report_language(std::string_view text);

/// What a report says besides the scenario and what came of it.
struct ReportOptions {
    std::string title;   ///< empty: the workload's name
    std::string command; ///< what it can be made again with; empty: not shown
    ReportLanguage language = ReportLanguage::kEnglish;
};

/// A report for people, as one HTML file that needs nothing else: no network, and scripts only to show values under
/// the pointer. It is well-formed XML, and below 1 MiB whatever was simulated: curves are thinned, tables cut.
/// @param runs  in the order in which policies are to be shown, the first one in most detail; several seeds of a
///              policy are one row, with intervals. At least one; curves over time are of each policy's first run.
std::string report_html(const Scenario& scenario, std::span<const PolicyRun> runs, const ReportOptions& options);

} // namespace fathom::simulation
