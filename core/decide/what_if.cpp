#include "core/decide/what_if.hpp"

#include <algorithm>
#include <set>

namespace fathom {
namespace {

constexpr std::size_t kMostPrices = 1000;
constexpr std::size_t kMostCenters = 1000;
constexpr std::size_t kMostNamed = 8;

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// "alpha, beta, and 3 more"
std::string some_of(const std::set<std::string>& names)
{
    std::string text;
    std::size_t named = 0;
    for (const std::string& name : names) {
        if (named++ == kMostNamed) break;
        text += (text.empty() ? "" : ", ") + name;
    }
    if (names.size() > kMostNamed) text += ", and " + std::to_string(names.size() - kMostNamed) + " more";
    return text.empty() ? "no center offers units now" : "there are " + text;
}

void let_time_pass(UnitTypeView& view, double by_s)
{
    view.availability = view.availability.sooner(by_s);
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
    view.availability = Availability(view.unit_count);
    for (const Closure& closure : view.closures)
        view.availability.take(closure.from_s, closure.to_s, view.unit_count);
    view.queued_s = 0;
}

} // namespace

WhatIf parse_what_if(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    WhatIf what_if;
    if (const Json* prices = reader.array("prices", 0, kMostPrices)) {
        for (std::size_t i = 0; i < prices->size(); ++i) {
            ObjectReader item((*prices)[i], reader.path_of("prices") + "[" + std::to_string(i) + "]", errors);
            PriceChange change;
            change.center = item.required_string("center", {.min_length = 1, .max_length = 128});
            change.unit_type = item.required_string("unit_type", {.min_length = 1, .max_length = 128});
            change.per_unit_hour_micros = read_price(item, "per_unit_hour").value_or(0);
            item.finish(UnknownFields::kReject);
            what_if.prices.push_back(std::move(change));
        }
    }
    const ObjectReader::StringRule is_name{.min_length = 1, .max_length = 128};
    what_if.exclude_centers = reader.strings("exclude_centers", kMostCenters, is_name);
    what_if.only_centers = reader.strings("only_centers", kMostCenters, is_name);
    what_if.free_centers = reader.strings("free_centers", kMostCenters, is_name);
    what_if.now = reader.optional_time("now");
    reader.finish(UnknownFields::kReject);
    for (const std::string& name : what_if.only_centers) {
        if (contains(what_if.exclude_centers, name))
            reader.fail("exclude_centers", "leaves out " + name + ", which only_centers asks for");
    }
    return what_if;
}

void check_what_if(const WhatIf& what_if, std::span<const UnitTypeView> unit_types, std::string_view currency,
                   Timestamp now, const std::string& path, std::vector<FieldError>& errors)
{
    std::set<std::string> centers;
    for (const UnitTypeView& view : unit_types)
        centers.insert(view.center_name);
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
        std::set<std::string> known;
        for (const UnitTypeView& view : unit_types) {
            if (view.center_name == change.center) known.insert(view.name);
        }
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
    const double passes_s = what_if.now ? Seconds(*what_if.now - request.transfer.now).count() : 0;
    if (passes_s > 0) request.transfer.now = *what_if.now;
    for (UnitTypeView& view : unit_types) {
        if (passes_s > 0) let_time_pass(view, passes_s);
        if (contains(what_if.free_centers, view.center_name)) free_all(view);
        for (const PriceChange& change : what_if.prices) {
            if (change.center != view.center_name) continue;
            if (change.unit_type != "*" && change.unit_type != view.name) continue;
            PriceEntry entry;
            entry.per_unit_hour_micros = change.per_unit_hour_micros;
            if (view.price != nullptr) entry.unit_power_w = view.price->unit_power_w();
            view.price = std::make_shared<UnitPrice>(entry);
        }
        const bool is_out = contains(what_if.exclude_centers, view.center_name) ||
                            (!what_if.only_centers.empty() && !contains(what_if.only_centers, view.center_name));
        if (!is_out) continue;
        view.closed_reason = "left out by the question";
        view.closed_by = Filter::kPolicy;
    }
}

} // namespace fathom
