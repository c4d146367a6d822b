#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// An exact amount of money: millionths of a currency's unit. Amounts in JSON are decimal strings.
struct Money {
    std::int64_t micros = 0;
    std::string currency; ///< ISO 4217: three capital letters

    double amount() const { return static_cast<double>(micros) * 1e-6; }
};

/// "12.5" for 12 500 000 micros: no trailing zeros.
std::string format_amount(std::int64_t micros);
/// At most six decimal places and twelve digits before the point, "-" before it; no exponent. Empty when it is not such
/// a number.
std::optional<std::int64_t> parse_amount(std::string_view text);
/// The nearest amount, away from zero at half; ends of the range where it does not fit.
std::int64_t to_micros(double amount);

/// An amount of a JSON object, required and not negative; empty when it is wrong, which is then reported.
std::optional<std::int64_t> read_price(ObjectReader& reader, std::string_view field);
/// A currency of a JSON object, required; what is wrong is reported.
std::string read_currency(ObjectReader& reader, std::string_view field);

/// `{"amount": "12.50", "currency": "EUR"}`, not negative; adds to `errors` what is wrong.
Money parse_money(const Json& json, const std::string& path, std::vector<FieldError>& errors);
Json to_json(const Money& money);

} // namespace fathom
