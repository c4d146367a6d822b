#include "core/model/money.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr std::uint64_t kMicros = 1'000'000;
constexpr std::size_t kMaxWholeDigits = 12;
constexpr std::size_t kMaxDecimals = 6;

bool is_digits(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t to_number(std::string_view digits)
{
    std::int64_t value = 0;
    for (const char c : digits)
        value = value * 10 + (c - '0');
    return value;
}

} // namespace

std::string format_amount(std::int64_t micros)
{
    // The smallest number has no positive counterpart, so the magnitude is unsigned.
    const std::uint64_t magnitude =
        micros < 0 ? 0 - static_cast<std::uint64_t>(micros) : static_cast<std::uint64_t>(micros);
    const std::string text = (micros < 0 ? "-" : "") + std::to_string(magnitude / kMicros);
    std::string decimals = std::to_string(magnitude % kMicros);
    decimals.insert(0, kMaxDecimals - decimals.size(), '0');
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return decimals.empty() ? text : text + "." + decimals;
}

std::optional<std::int64_t> parse_amount(std::string_view text)
{
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    if (!is_digits(whole) || whole.size() > kMaxWholeDigits) return std::nullopt;
    std::string decimals;
    if (point != std::string_view::npos) {
        decimals = text.substr(point + 1);
        if (!is_digits(decimals) || decimals.size() > kMaxDecimals) return std::nullopt;
    }
    decimals.resize(kMaxDecimals, '0');
    const std::int64_t micros = to_number(whole) * static_cast<std::int64_t>(kMicros) + to_number(decimals);
    return is_negative ? -micros : micros;
}

std::int64_t to_micros(double amount)
{
    if (std::isnan(amount)) return 0;
    const double micros = std::round(amount * static_cast<double>(kMicros));
    using Limits = std::numeric_limits<std::int64_t>;
    // As a double the largest number is rounded up to 2^63, which does not fit any more.
    if (micros >= static_cast<double>(Limits::max())) return Limits::max();
    if (micros <= static_cast<double>(Limits::min())) return Limits::min();
    return static_cast<std::int64_t>(micros);
}

std::optional<std::int64_t> read_price(ObjectReader& reader, std::string_view field)
{
    const Json* value = reader.any(field);
    if (value == nullptr) {
        reader.fail(field, "is required");
        return std::nullopt;
    }
    const std::optional<std::int64_t> micros =
        value->is_string() ? parse_amount(value->get_ref<const std::string&>()) : std::nullopt;
    if (!micros)
        reader.fail(field, "must be a decimal number in quotes, such as \"12.50\": at most twelve digits before the "
                           "point and six after it");
    else if (*micros < 0)
        reader.fail(field, "must not be negative");
    else
        return micros;
    return std::nullopt;
}

std::string read_currency(ObjectReader& reader, std::string_view field)
{
    std::string currency = reader.required_string(field, {.max_length = 64});
    const bool is_code = currency.size() == 3 &&
                         std::all_of(currency.begin(), currency.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!currency.empty() && !is_code) reader.fail(field, "must be three capital letters (ISO 4217), such as \"EUR\"");
    return currency;
}

Money parse_money(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    Money money;
    money.micros = read_price(reader, "amount").value_or(0);
    money.currency = read_currency(reader, "currency");
    reader.finish(UnknownFields::kReject);
    return money;
}

Json to_json(const Money& money)
{
    return {{"amount", format_amount(money.micros)}, {"currency", money.currency}};
}

} // namespace fathom
