#pragma once

#include "core/base/clock.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// Amounts as decisions write them, for people: short, with their unit.
namespace fathom {

struct Candidate;

/// "12 s", "0.35 s", "4.2 min".
std::string duration_text(double seconds);

/// A number of bytes with a decimal prefix, to two or three digits: "1.5 GB".
std::string bytes_text(double bytes);

/// "12 MB/s".
std::string rate_text(double rate_bytes);

/// "1 unit", "3 units".
std::string units_text(std::int64_t count);

/// "14.20 EUR", "0.0031 EUR"; without a currency the number alone.
std::string cost_text(double cost, std::string_view currency);

/// "350 J", "1.2 kJ", "3.4 kWh".
std::string energy_text(double joules);

/// "14:00 UTC" for a moment within a day of `now`, with its date otherwise; seconds only where they are not zero.
std::string moment_text(Timestamp at, Timestamp now);

/// A deadline that a completion in so many seconds keeps, as people would write it: to the full minute where that is
/// not near.
Timestamp kept_deadline(Timestamp now, double completion_s);

/// A budget that so high a cost keeps, as people would write it: rounded up to the digits that cost_text() shows.
double kept_budget(double cost);

/// The amount rounded up to a multiple of `step`.
double round_up(double value, double step);

/// What the last of `digits` digits of the value is worth.
double step_of(double value, int digits);

/// "beta/core".
std::string place_text(const Candidate& candidate);

} // namespace fathom
