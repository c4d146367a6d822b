#pragma once

#include "simulator/figures/confidence.hpp"
#include "simulator/figures/policy_group.hpp"
#include "simulator/report/report_texts.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fathom::simulation {

enum class BetterIs { kLess, kMore, kNeither };
BetterIs better_of(FigureId figure);

/// What a figure is in a run, or in a part of it; NaN where it has none.
double value_of(FigureId figure, const Figures& figures, const SimulationResult& result);

/// The figure of a part of each run of a policy, over its seeds.
Confidence over_seeds(const PolicyGroup& policy, FigureId figure,
                      const std::function<const Figures&(const PolicyRun&)>& part);

/// For people: "3 h 05 min", "1.32", "45.1 %", "12.3 EUR"; "–" where there is none.
std::string shown(FigureId figure, double value, const std::string& currency);
/// Of counts, and of their means.
std::string shown_count(double value);
/// With its interval, where it has one.
std::string shown(FigureId figure, const Confidence& value, const std::string& currency);

} // namespace fathom::simulation
