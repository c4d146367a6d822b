#pragma once

#include "core/base/json_reader.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// Hours of some days of the week at another price.
struct PriceBand {
    std::vector<int> days; ///< 0 Monday … 6 Sunday; empty: every day
    int from_hour = 0;     ///< 0..23, UTC
    int to_hour = 24;      ///< 1..24, after from_hour: a band over midnight is two bands
    std::int64_t per_unit_hour_micros = 0;
};

/// In place of a unit type: every one of the center that has no entry of its own.
inline constexpr std::string_view kEveryUnitType = "*";

/// What a unit type costs and draws.
struct PriceEntry {
    std::string center;    ///< name
    std::string unit_type; ///< name, or "*" for every unit type of the center
    std::int64_t per_unit_hour_micros = 0;
    std::vector<PriceBand> bands; ///< a later one wins where they overlap
    double unit_power_w = 0;      ///< of a busy unit; 0: not known
    double carbon_g_per_kwh = 0;  ///< of its electricity; 0: not known
};

/// Prices of one network in one currency: a document, versioned as a whole.
struct PriceBook {
    std::string currency;
    std::vector<PriceEntry> entries; ///< in order of center and unit type, each once
};

/// Reads `{"currency", "entries": [{"center", "unit_type", "per_unit_hour", "bands": [{"days": ["mon"], "from_hour",
/// "to_hour", "per_unit_hour"}], "unit_power_w", "carbon_g_per_kwh"}]}` and sorts the entries.
/// Every fault at once: unknown fields, days and hours out of range, negative prices, a place named twice.
/// @error kInvalid
Result<PriceBook> parse_price_book(const Json& json);
Json to_json(const PriceBook& book);

/// The entry of a unit type: its own, else its center's "*"; nullptr when it has no price.
const PriceEntry* find_price(const PriceBook& book, std::string_view center, std::string_view unit_type);

/// By hour of the week from Monday 00:00 UTC.
std::array<std::int64_t, 168> hourly_prices(const PriceEntry& entry);

} // namespace fathom
