#pragma once

#include "core/base/json_reader.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// Hours of some days of the week at another price. A price that the band does not name stays as the entry has it.
struct PriceBand {
    std::vector<int> days; ///< 0 Monday … 6 Sunday; empty: every day
    int from_hour = 0;     ///< 0..23, UTC
    int to_hour = 24;      ///< 1..24, after from_hour: a band over midnight is two bands
    std::optional<std::int64_t> per_unit_hour_micros{};
    std::optional<std::int64_t> per_score_hour_micros{};
};

/// In place of a unit type: every one of the center that has no entry of its own. In place of the center, too: every
/// unit type of the network that has none.
inline constexpr std::string_view kEveryUnitType = "*";

/// What a unit type costs and draws. A score-hour is an hour of one unit that scores 1000 points; a unit-hour is an
/// hour of any unit. An entry with both prices charges both.
struct PriceEntry {
    std::string center;    ///< name, or "*" with unit type "*"
    std::string unit_type; ///< name, or "*" for every unit type of the center
    std::int64_t per_unit_hour_micros = 0;
    std::int64_t per_score_hour_micros = 0;
    std::int64_t per_idle_reserved_unit_hour_micros = 0; ///< of units reserved for a project that its jobs left idle
    std::vector<PriceBand> bands;                        ///< a later one wins where they overlap
    double unit_power_w = 0;                             ///< of a busy unit; 0: not known
    double carbon_g_per_kwh = 0;                         ///< of its electricity; 0: not known
};

/// What a project may be charged in a calendar month (UTC).
struct ProjectBudget {
    std::string project;
    std::int64_t per_month_micros = 0;
    bool refuses = false;            ///< at the cap its jobs are refused; else there is only the alert
    std::vector<int> alerts_percent; ///< of the cap, ascending, each at most 1000: an alert at each
};

/// Prices of one network in one currency: a document, versioned as a whole.
struct PriceBook {
    std::string currency;
    std::vector<PriceEntry> entries;                                ///< in order of center and unit type, each once
    std::int64_t per_gb_moved_micros = 0;                           ///< of 10^9 bytes that jobs say to move
    std::int64_t per_gb_hour_stored_micros = 0;                     ///< of 10^9 bytes of output kept for an hour
    std::int64_t minimum_charge_micros = 0;                         ///< of an attempt that ran, after discounts
    std::map<std::string, std::int64_t, std::less<>> discounts_ppm; ///< millionths off, by project
    std::vector<ProjectBudget> budgets;                             ///< in order of project, each once
};

/// Reads `{"currency", "entries": [{"center", "unit_type", "per_score_hour", "per_unit_hour",
/// "per_idle_reserved_unit_hour", "bands": [{"days": ["mon"], "from_hour", "to_hour", "per_score_hour",
/// "per_unit_hour"}], "unit_power_w", "carbon_g_per_kwh"}], "per_gb_moved", "per_gb_hour_stored", "minimum_charge",
/// "discounts": [{"project", "percent"}], "budgets": [{"project", "per_month", "action", "alerts_percent"}]}` and sorts
/// the entries. Every fault at once: unknown fields, days and hours out of range, negative prices, a place named twice,
/// an entry without a price.
/// @error kInvalid
Result<PriceBook> parse_price_book(const Json& json);
Json to_json(const PriceBook& book);

/// The entry of a unit type: its own, else its center's "*", else the network's; nullptr when it has no price.
const PriceEntry* find_price(const PriceBook& book, std::string_view center, std::string_view unit_type);

/// The budget of a project; nullptr when it has none.
const ProjectBudget* find_budget(const PriceBook& book, std::string_view project);

/// By hour of the week from Monday 00:00 UTC.
using HourlyPrices = std::array<std::int64_t, 168>;
HourlyPrices hourly_prices(const PriceEntry& entry);       ///< of a unit-hour
HourlyPrices hourly_score_prices(const PriceEntry& entry); ///< of a score-hour

} // namespace fathom
