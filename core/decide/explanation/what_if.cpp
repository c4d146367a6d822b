#include "core/decide/explanation/what_if.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/decide/capacity/holds.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/routing/filters.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/unit_type_view.hpp"
#include "core/model/money.hpp"
#include "core/model/name_limits.hpp"
#include "core/model/price_book.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxPrices = 1000;
constexpr std::size_t kMaxCenters = 1000;
constexpr std::size_t kMaxNamed = 8;

using NameSet = std::set<std::string_view>;
using Prices = std::map<std::pair<std::string_view, std::string_view>, std::int64_t>; ///< by center and unit type

/// The last of several for one unit type counts.
Prices arrange(const std::vector<PriceChange>& changes)
{
    Prices prices;
    for (const PriceChange& change : changes)
        prices.insert_or_assign({change.center, change.unit_type}, change.per_unit_hour_micros);
    return prices;
}

/// As in a price book: a unit type's own before its center's `*`.
std::optional<std::int64_t> find_price(const Prices& prices, const UnitTypeView& view)
{
    for (const std::string_view unit_type : {std::string_view(view.name), std::string_view("*")}) {
        const auto price = prices.find({view.center_name, unit_type});
        if (price != prices.end()) return price->second;
    }
    return std::nullopt;
}

/// "alpha, beta, and 3 more"
std::string some_of(const std::set<std::string>& names)
{
    std::string text;
    std::size_t named = 0;
    for (const std::string& name : names) {
        if (named++ == kMaxNamed) break;
        text += (text.empty() ? "" : ", ") + name;
    }
    if (names.size() > kMaxNamed) text += ", and " + std::to_string(names.size() - kMaxNamed) + " more";
    return text.empty() ? "no center offers units now" : "there are " + text;
}

void let_time_pass(UnitTypeView& view, double by_s)
{
    view.bring_forward(by_s);
    view.queued_s = std::max(view.queued_s - by_s, 0.0);
    for (Hold& hold : view.holds) {
        hold.from_s -= by_s;
        hold.to_s -= by_s;
    }
    for (Closure& closure : view.closures) {
        closure.from_s -= by_s;
        closure.to_s -= by_s;
    }
}

void free_all(UnitTypeView& view)
{
    view.free_all();
    for (const Closure& closure : view.closures)
        view.close(closure.from_s, closure.to_s);
    view.queued_s = 0;
}

} // namespace

WhatIf parse_what_if(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    WhatIf what_if;
    if (const Json* prices = reader.array("prices", 0, kMaxPrices)) {
        for (std::size_t i = 0; i < prices->size(); ++i) {
            ObjectReader item((*prices)[i], reader.path_of("prices") + "[" + std::to_string(i) + "]", errors);
            PriceChange change;
            change.center = item.required_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes});
            change.unit_type =
                item.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
            change.per_unit_hour_micros = read_price(item, "per_unit_hour").value_or(0);
            item.finish(UnknownFields::kReject);
            what_if.prices.push_back(std::move(change));
        }
    }
    const ObjectReader::StringRule is_name{.min_length = 1, .max_length = 128};
    what_if.exclude_centers = reader.strings("exclude_centers", kMaxCenters, is_name);
    what_if.only_centers = reader.strings("only_centers", kMaxCenters, is_name);
    what_if.free_centers = reader.strings("free_centers", kMaxCenters, is_name);
    what_if.now = reader.optional_time("now");
    reader.finish(UnknownFields::kReject);
    const NameSet excluded(what_if.exclude_centers.begin(), what_if.exclude_centers.end());
    for (const std::string& name : what_if.only_centers) {
        if (excluded.contains(name))
            reader.fail("exclude_centers", "leaves out " + name + ", which only_centers asks for");
    }
    return what_if;
}

void check_what_if(const WhatIf& what_if, std::span<const UnitTypeView> unit_types, std::string_view currency,
                   Timestamp now, const std::string& path, std::vector<FieldError>& errors)
{
    std::set<std::string> centers;
    std::map<std::string_view, std::set<std::string>> types; // by center
    for (const UnitTypeView& view : unit_types) {
        centers.insert(view.center_name);
        types[view.center_name].insert(view.name);
    }
    const auto check_centers = [&](const std::vector<std::string>& names, const std::string& field) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (centers.contains(names[i])) continue;
            errors.push_back({path + "." + field + "[" + std::to_string(i) + "]",
                              "there is no center " + names[i] + "; " + some_of(centers)});
        }
    };
    check_centers(what_if.exclude_centers, "exclude_centers");
    check_centers(what_if.only_centers, "only_centers");
    check_centers(what_if.free_centers, "free_centers");
    for (std::size_t i = 0; i < what_if.prices.size(); ++i) {
        const PriceChange& change = what_if.prices[i];
        const std::string field = path + ".prices[" + std::to_string(i) + "]";
        if (!centers.contains(change.center)) {
            errors.push_back({field + ".center", "there is no center " + change.center + "; " + some_of(centers)});
            continue;
        }
        const std::set<std::string>& known = types[change.center];
        if (change.unit_type != "*" && !known.contains(change.unit_type))
            errors.push_back({field + ".unit_type",
                              change.center + " has no unit type " + change.unit_type + "; " + some_of(known)});
    }
    if (!what_if.prices.empty() && currency.empty())
        errors.push_back({path + ".prices", "the network has no price book in force, so that prices have no currency"});
    if (what_if.now && *what_if.now < now)
        errors.push_back({path + ".now", "has passed: it is " + format_rfc3339(now) + " now"});
}

void apply_what_if(const WhatIf& what_if, RouteRequest& request, std::vector<UnitTypeView>& unit_types)
{
    const NameSet excluded(what_if.exclude_centers.begin(), what_if.exclude_centers.end());
    const NameSet only(what_if.only_centers.begin(), what_if.only_centers.end());
    const NameSet freed(what_if.free_centers.begin(), what_if.free_centers.end());
    const Prices prices = arrange(what_if.prices);
    const double passes_s = what_if.now ? Seconds(*what_if.now - request.transfer.now).count() : 0;
    if (passes_s > 0) request.transfer.now = *what_if.now;
    for (UnitTypeView& view : unit_types) {
        if (passes_s > 0) let_time_pass(view, passes_s);
        if (freed.contains(view.center_name)) {
            free_all(view);
            request.gpu_shares.erase(view.id.value); // who had parts of its GPUs is not there either
        }
        if (const std::optional<std::int64_t> price = find_price(prices, view)) {
            PriceEntry entry;
            entry.per_unit_hour_micros = *price;
            if (view.price != nullptr) entry.unit_power_w = view.price->unit_power_w();
            view.price = std::make_shared<UnitPrice>(entry);
        }
        const bool is_out = excluded.contains(view.center_name) || (!only.empty() && !only.contains(view.center_name));
        if (!is_out) continue;
        view.closed_reason = "left out by the question";
        view.closed_by = Filter::kPolicy;
    }
}

} // namespace fathom
