#pragma once

#include "cli/text/table.hpp"
#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

// Parts of a decision (core/decide/routing/route.hpp, `to_json`) as text; each empty where there is nothing to say.
// What is missing, as in decisions of older servers, is left out.

/// nullptr: nothing can run it.
const Json* winner_of(const Json& decision);

/// "beta/core".
std::string place_of(const Json& candidate);
/// "1 unit", "4 units".
std::string units_text(const Json& json);
/// "12.50 EUR" of a member that is an amount of money; "-" when absent.
std::string money_of(const Json& json, std::string_view name);
/// A predicted time of the candidate; "≥" where operators that were never measured are not in it.
std::string predicted_duration(const Json& candidate, const Json& holder, std::string_view name);
/// The limits `low_s` and `high_s`; "-" when absent.
std::string interval_of(const Json& json);
/// "1.20 kJ"; "-" when absent.
std::string energy_of(const Json& candidate);

/// "at once", "after 12 s"
std::string after_text(double seconds);
/// Start, run, completion, cost and energy of the winner, and what history made of its prediction.
std::string outlook_text(const Json& winner, const TableStyle& style);
/// The places that could run it, best first, at most 8 of them.
std::string candidates_text(const Json& decision, const TableStyle& style);
/// "Units: 3 units, the knee of its scaling: 6 units would be 25 % faster", and what each count would have given.
std::string units_chosen_text(const Json& winner, const TableStyle& style);
/// When and how fast its data are moved.
std::string transfer_text(const Json& winner);
/// The places that could not, by what ruled them out.
std::string impossible_text(const Json& decision, const TableStyle& style);
/// What would have made another place right.
std::string counterfactuals_text(const Json& decision);
/// CPU against GPU at centers that have both.
std::string devices_text(const Json& decision);
std::string assumptions_text(const Json& decision);
/// What the probes measured, of the best three places.
std::string evidence_text(const Json& decision, Timestamp now, const TableStyle& style);

} // namespace fathom::cli
