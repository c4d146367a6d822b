#include "core/model/price_book.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/money.hpp"
#include "core/model/name_limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxEntries = 20'000;
constexpr std::size_t kMaxProjects = 10'000;
constexpr std::size_t kMaxBands = 168; // one for each hour of the week
constexpr double kMaxPowerW = 1e7;
constexpr double kMaxCarbon = 1e5;
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

std::optional<std::int64_t> read_optional_price(ObjectReader& reader, std::string_view field)
{
    return reader.has(field) ? read_price(reader, field) : std::nullopt;
}

void require_a_price(ObjectReader& reader)
{
    if (!reader.has("per_unit_hour") && !reader.has("per_score_hour"))
        reader.fail("per_score_hour", "is required, or per_unit_hour is");
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
    band.per_unit_hour_micros = read_optional_price(reader, "per_unit_hour");
    band.per_score_hour_micros = read_optional_price(reader, "per_score_hour");
    require_a_price(reader);
    reader.finish(UnknownFields::kReject);
    return band;
}

PriceEntry parse_entry(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    PriceEntry entry;
    entry.center = reader.required_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes});
    entry.unit_type = reader.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
    if (entry.center == kEveryUnitType && entry.unit_type != kEveryUnitType && !entry.unit_type.empty())
        reader.fail("unit_type", "must be \"*\" where the center is: names of unit types are the centers' own");
    entry.per_unit_hour_micros = read_optional_price(reader, "per_unit_hour").value_or(0);
    entry.per_score_hour_micros = read_optional_price(reader, "per_score_hour").value_or(0);
    entry.per_idle_reserved_unit_hour_micros = read_optional_price(reader, "per_idle_reserved_unit_hour").value_or(0);
    require_a_price(reader);
    if (const Json* bands = reader.array("bands", 0, kMaxBands)) {
        for (std::size_t i = 0; i < bands->size(); ++i)
            entry.bands.push_back(
                parse_band((*bands)[i], reader.path_of("bands") + "[" + std::to_string(i) + "]", errors));
    }
    entry.unit_power_w = reader.optional_number("unit_power_w", 0, kMaxPowerW).value_or(0);
    entry.carbon_g_per_kwh = reader.optional_number("carbon_g_per_kwh", 0, kMaxCarbon).value_or(0);
    reader.finish(UnknownFields::kReject);
    return entry;
}

auto place_of(const PriceEntry& entry)
{
    return std::tie(entry.center, entry.unit_type);
}

void add_price(Json& json, const char* name, std::int64_t micros)
{
    if (micros > 0) json[name] = format_amount(micros);
}

Json band_json(const PriceBand& band)
{
    Json json = {{"from_hour", band.from_hour}, {"to_hour", band.to_hour}};
    if (band.per_unit_hour_micros) json["per_unit_hour"] = format_amount(*band.per_unit_hour_micros);
    if (band.per_score_hour_micros) json["per_score_hour"] = format_amount(*band.per_score_hour_micros);
    for (const int day : band.days)
        json["days"].push_back(kDays.at(static_cast<std::size_t>(day)));
    return json;
}

Json entry_json(const PriceEntry& entry)
{
    Json json = {{"center", entry.center}, {"unit_type", entry.unit_type}};
    // What is free says so with the price of a unit-hour.
    if (entry.per_unit_hour_micros > 0 || entry.per_score_hour_micros == 0)
        json["per_unit_hour"] = format_amount(entry.per_unit_hour_micros);
    add_price(json, "per_score_hour", entry.per_score_hour_micros);
    add_price(json, "per_idle_reserved_unit_hour", entry.per_idle_reserved_unit_hour_micros);
    for (const PriceBand& band : entry.bands)
        json["bands"].push_back(band_json(band));
    if (entry.unit_power_w > 0) json["unit_power_w"] = entry.unit_power_w;
    if (entry.carbon_g_per_kwh > 0) json["carbon_g_per_kwh"] = entry.carbon_g_per_kwh;
    return json;
}

/// "12.5" for 125 000 millionths.
std::int64_t parse_percent(ObjectReader& reader)
{
    constexpr std::int64_t kPpmOfPercent = 10'000;
    constexpr std::int64_t kMicrosOfOne = 1'000'000;
    const std::int64_t micros = read_price(reader, "percent").value_or(0);
    if (micros > 100 * kMicrosOfOne || micros % (kMicrosOfOne / kPpmOfPercent) != 0)
        reader.fail("percent", "must be from \"0\" to \"100\", with at most four decimal places");
    return micros / (kMicrosOfOne / kPpmOfPercent);
}

void parse_discounts(ObjectReader& reader, PriceBook& book, std::vector<FieldError>& errors)
{
    const Json* discounts = reader.array("discounts", 0, kMaxProjects);
    for (std::size_t i = 0; discounts != nullptr && i < discounts->size(); ++i) {
        ObjectReader one((*discounts)[i], "discounts[" + std::to_string(i) + "]", errors);
        const std::string project =
            one.required_string("project", {.min_length = 1, .max_length = kMaxProjectNameBytes});
        const std::int64_t ppm = parse_percent(one);
        if (!book.discounts_ppm.try_emplace(project, ppm).second) one.fail("project", "has a discount already");
        one.finish(UnknownFields::kReject);
    }
}

ProjectBudget parse_budget(ObjectReader& reader)
{
    constexpr std::int64_t kMaxPercent = 1000;
    ProjectBudget budget;
    budget.project = reader.required_string("project", {.min_length = 1, .max_length = kMaxProjectNameBytes});
    budget.per_month_micros = read_price(reader, "per_month").value_or(0);
    budget.refuses = reader.required_string("action", {.max_length = 16, .one_of = {"warn", "refuse"}}) == "refuse";
    const Json* alerts = reader.array("alerts_percent", 0, 10);
    for (std::size_t i = 0; alerts != nullptr && i < alerts->size(); ++i) {
        const Json& percent = (*alerts)[i];
        const bool is_whole = percent.is_number_integer() && percent >= 1 && percent <= kMaxPercent;
        if (!is_whole || (!budget.alerts_percent.empty() && percent <= budget.alerts_percent.back()))
            reader.fail("alerts_percent", "must be whole numbers from 1 to 1000, ascending");
        else
            budget.alerts_percent.push_back(percent.get<int>());
    }
    if (alerts == nullptr) budget.alerts_percent = {80, 100};
    reader.finish(UnknownFields::kReject);
    return budget;
}

void parse_budgets(ObjectReader& reader, PriceBook& book, std::vector<FieldError>& errors)
{
    const Json* budgets = reader.array("budgets", 0, kMaxProjects);
    std::set<std::string> named;
    for (std::size_t i = 0; budgets != nullptr && i < budgets->size(); ++i) {
        ObjectReader one((*budgets)[i], "budgets[" + std::to_string(i) + "]", errors);
        book.budgets.push_back(parse_budget(one));
        if (!named.insert(book.budgets.back().project).second) one.fail("project", "has a budget already");
    }
    std::sort(book.budgets.begin(), book.budgets.end(),
              [](const ProjectBudget& a, const ProjectBudget& b) { return a.project < b.project; });
}

/// A price a hour of the week: that of the entry, or what `of_band` has of the last band that names one.
HourlyPrices by_hour(const PriceEntry& entry, std::int64_t micros, std::optional<std::int64_t> PriceBand::* of_band)
{
    HourlyPrices prices{};
    prices.fill(micros);
    for (const PriceBand& band : entry.bands) {
        const std::optional<std::int64_t>& price = band.*of_band;
        for (int hour = 0; price && hour < 168; ++hour) {
            const bool is_day =
                band.days.empty() || std::find(band.days.begin(), band.days.end(), hour / 24) != band.days.end();
            if (is_day && hour % 24 >= band.from_hour && hour % 24 < band.to_hour)
                prices.at(static_cast<std::size_t>(hour)) = *price;
        }
    }
    return prices;
}

} // namespace

Result<PriceBook> parse_price_book(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    PriceBook book;
    book.currency = read_currency(reader, "currency");
    if (const Json* entries = reader.array("entries", 1, kMaxEntries)) {
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
    book.per_gb_moved_micros = read_optional_price(reader, "per_gb_moved").value_or(0);
    book.per_gb_hour_stored_micros = read_optional_price(reader, "per_gb_hour_stored").value_or(0);
    book.minimum_charge_micros = read_optional_price(reader, "minimum_charge").value_or(0);
    parse_discounts(reader, book, errors);
    parse_budgets(reader, book, errors);
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
    Json json = {{"currency", book.currency}, {"entries", std::move(entries)}};
    add_price(json, "per_gb_moved", book.per_gb_moved_micros);
    add_price(json, "per_gb_hour_stored", book.per_gb_hour_stored_micros);
    add_price(json, "minimum_charge", book.minimum_charge_micros);
    for (const auto& [project, ppm] : book.discounts_ppm)
        json["discounts"].push_back({{"project", project}, {"percent", format_amount(ppm * 100)}});
    for (const ProjectBudget& budget : book.budgets)
        json["budgets"].push_back({{"project", budget.project},
                                   {"per_month", format_amount(budget.per_month_micros)},
                                   {"action", budget.refuses ? "refuse" : "warn"},
                                   {"alerts_percent", budget.alerts_percent}});
    return json;
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
    const PriceEntry* entry = find({center, unit_type});
    if (entry == nullptr) entry = find({center, kEveryUnitType});
    return entry != nullptr ? entry : find({kEveryUnitType, kEveryUnitType});
}

const ProjectBudget* find_budget(const PriceBook& book, std::string_view project)
{
    const auto found =
        std::lower_bound(book.budgets.begin(), book.budgets.end(), project,
                         [](const ProjectBudget& budget, std::string_view name) { return budget.project < name; });
    return found != book.budgets.end() && found->project == project ? &*found : nullptr;
}

HourlyPrices hourly_prices(const PriceEntry& entry)
{
    return by_hour(entry, entry.per_unit_hour_micros, &PriceBand::per_unit_hour_micros);
}

HourlyPrices hourly_score_prices(const PriceEntry& entry)
{
    return by_hour(entry, entry.per_score_hour_micros, &PriceBand::per_score_hour_micros);
}

} // namespace fathom
