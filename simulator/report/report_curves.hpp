#pragma once

#include "simulator/report/report_figures.hpp"
#include "simulator/report/report_plot.hpp"

#include <span>
#include <string>

namespace fathom::simulation {

// The drawings of a report, each as a <figure> with its title and legend.

/// Jobs that wait, over time.
std::string queue_plot(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts);

/// Distributions of completion and of slowdown.
std::string distribution_plots(const Scenario& scenario, std::span<const PolicyGroup> policies,
                               const ReportTexts& texts);

/// A <figure> of a drawing.
std::string figure_of(const std::string& title, const std::string& legend, const std::string& drawing,
                      std::string_view note);

/// When centers are closed between two times, those that overlap as one. `center`: index; nothing: any.
std::vector<PlotBand> closures_between(const Network& network, std::optional<std::size_t> center, double from_s,
                                       double to_s);

} // namespace fathom::simulation
