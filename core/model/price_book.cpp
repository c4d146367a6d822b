#include "core/model/price_book.hpp"

#include "core/model/money.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

constexpr std::size_t kMostEntries = 20'000;
constexpr std::size_t kMostBands = 168; // one for each hour of the week
constexpr double kMostPowerW = 1e7;
constexpr double kMostCarbon = 1e5;
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

std::vector<int> parse_days(ObjectReader& reader)
{
    std::vector<int> days;
    for (const std::string& name :
         reader.strings("days", kDays.size(), {.max_length = 16, .one_of = {kDays.begin(), kDays.end()}})) {
        const int day = static_cast<int>(std::find(kDays.begin(), kDays.end(), name) - kDays.begin());
        if (std::find(days.begin(), days.end(), day) != days.end())
            reader.fail("days", "names \"" + name + "\" twice");
        else
            days.push_back(day);
    }
    std::sort(days.begin(), days.end());
    return days;
}

PriceBand parse_band(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    PriceBand band;
    band.days = parse_days(reader);
    const std::size_t before = errors.size();
    band.from_hour = static_cast<int>(reader.optional_integer("from_hour", 0, 23).value_or(0));
    band.to_hour = static_cast<int>(reader.optional_integer("to_hour", 1, 24).value_or(24));
    if (errors.size() == before && band.to_hour <= band.from_hour)
        reader.fail("to_hour", "must be after from_hour; hours over midnight are two bands");
    band.per_unit_hour_micros = read_price(reader, "per_unit_hour").value_or(0);
    reader.finish(UnknownFields::kReject);
    return band;
}

PriceEntry parse_entry(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    PriceEntry entry;
    entry.center = reader.required_string("center", {.min_length = 1, .max_length = 128});
    entry.unit_type = reader.required_string("unit_type", {.min_length = 1, .max_length = 128});
    entry.per_unit_hour_micros = read_price(reader, "per_unit_hour").value_or(0);
    if (const Json* bands = reader.array("bands", 0, kMostBands)) {
        for (std::size_t i = 0; i < bands->size(); ++i)
            entry.bands.push_back(
                parse_band((*bands)[i], reader.path_of("bands") + "[" + std::to_string(i) + "]", errors));
    }
    entry.unit_power_w = reader.optional_number("unit_power_w", 0, kMostPowerW).value_or(0);
    entry.carbon_g_per_kwh = reader.optional_number("carbon_g_per_kwh", 0, kMostCarbon).value_or(0);
    reader.finish(UnknownFields::kReject);
    return entry;
}

auto place_of(const PriceEntry& entry)
{
    return std::tie(entry.center, entry.unit_type);
}

Json band_json(const PriceBand& band)
{
    Json json = {{"from_hour", band.from_hour},
                 {"to_hour", band.to_hour},
                 {"per_unit_hour", format_amount(band.per_unit_hour_micros)}};
    for (const int day : band.days)
        json["days"].push_back(kDays.at(static_cast<std::size_t>(day)));
    return json;
}

Json entry_json(const PriceEntry& entry)
{
    Json json = {{"center", entry.center},
                 {"unit_type", entry.unit_type},
                 {"per_unit_hour", format_amount(entry.per_unit_hour_micros)}};
    for (const PriceBand& band : entry.bands)
        json["bands"].push_back(band_json(band));
    if (entry.unit_power_w > 0) json["unit_power_w"] = entry.unit_power_w;
    if (entry.carbon_g_per_kwh > 0) json["carbon_g_per_kwh"] = entry.carbon_g_per_kwh;
    return json;
}

} // namespace

Result<PriceBook> parse_price_book(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    PriceBook book;
    book.currency = read_currency(reader, "currency");
    if (const Json* entries = reader.array("entries", 1, kMostEntries)) {
        std::map<std::pair<std::string, std::string>, std::size_t> first;
        for (std::size_t i = 0; i < entries->size(); ++i) {
            const std::string path = "entries[" + std::to_string(i) + "]";
            PriceEntry entry = parse_entry((*entries)[i], path, errors);
            const auto [same, is_new] = first.try_emplace({entry.center, entry.unit_type}, i);
            if (!is_new && !entry.center.empty() && !entry.unit_type.empty())
                errors.push_back({path, entry.center + "/" + entry.unit_type + " has a price already, in entries[" +
                                            std::to_string(same->second) + "]"});
            book.entries.push_back(std::move(entry));
        }
    }
    reader.finish(UnknownFields::kReject);
    std::sort(book.entries.begin(), book.entries.end(),
              [](const PriceEntry& a, const PriceEntry& b) { return place_of(a) < place_of(b); });
    return value_or_errors(std::move(book), std::move(errors), "the price book");
}

Json to_json(const PriceBook& book)
{
    Json entries = Json::array();
    for (const PriceEntry& entry : book.entries)
        entries.push_back(entry_json(entry));
    return {{"currency", book.currency}, {"entries", std::move(entries)}};
}

const PriceEntry* find_price(const PriceBook& book, std::string_view center, std::string_view unit_type)
{
    using Place = std::pair<std::string_view, std::string_view>;
    const auto find = [&](const Place& place) -> const PriceEntry* {
        const auto is_before = [](const PriceEntry& entry, const Place& wanted) {
            return Place{entry.center, entry.unit_type} < wanted;
        };
        const auto entry = std::lower_bound(book.entries.begin(), book.entries.end(), place, is_before);
        return entry != book.entries.end() && Place{entry->center, entry->unit_type} == place ? &*entry : nullptr;
    };
    const PriceEntry* own = find({center, unit_type});
    return own != nullptr ? own : find({center, kEveryUnitType});
}

std::array<std::int64_t, 168> hourly_prices(const PriceEntry& entry)
{
    std::array<std::int64_t, 168> prices{};
    prices.fill(entry.per_unit_hour_micros);
    for (const PriceBand& band : entry.bands) {
        for (int hour = 0; hour < 168; ++hour) {
            const bool is_day =
                band.days.empty() || std::find(band.days.begin(), band.days.end(), hour / 24) != band.days.end();
            if (is_day && hour % 24 >= band.from_hour && hour % 24 < band.to_hour)
                prices.at(static_cast<std::size_t>(hour)) = band.per_unit_hour_micros;
        }
    }
    return prices;
}

} // namespace fathom
