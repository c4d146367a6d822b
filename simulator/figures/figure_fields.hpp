#pragma once

#include "core/base/json_reader.hpp"
#include "simulator/figures/figures.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace fathom::simulation {

/// A figure with its name in JSON and CSV.
struct FigureField {
    std::string_view name;
    std::variant<double Figures::*, std::int64_t Figures::*> member;
};
/// All of them.
std::span<const FigureField> figure_fields();
double value_of(const FigureField& field, const Figures& figures);

/// All figures by name; whole numbers stay whole, and what there is nothing to take of is null as text.
Json to_json(const Figures& figures);

} // namespace fathom::simulation
