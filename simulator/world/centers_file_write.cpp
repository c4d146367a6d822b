#include "simulator/world/centers_file_write.hpp"

#include "core/model/money.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace fathom::simulation {
namespace {

constexpr std::size_t kHours = 24;
constexpr std::size_t kDays = 7;
constexpr std::array<std::string_view, kDays> kDayNames{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

std::string_view text_of(Scaling scaling)
{
    switch (scaling) {
    case Scaling::kFixed:
        return "fixed";
    case Scaling::kLinear:
        return "linear";
    case Scaling::kTable:
        return "table";
    }
    return "fixed";
}

Json rate_json(const UnitTypeRate& rate)
{
    if (rate.speedups.empty()) return rate.rate;
    Json points = Json::array();
    for (const CountSpeedup& point : rate.speedups)
        points.push_back({{"unit_count", point.unit_count}, {"speedup", point.speedup}});
    return {{"rate", rate.rate}, {"speedups", std::move(points)}};
}

/// Hours of a day at another price than the usual one, and its amount.
struct HoursAtPrice {
    std::size_t from{};
    std::size_t to{};
    std::string amount;
    auto operator<=>(const HoursAtPrice&) const = default;
};

Json price_json(const UnitPrice& price)
{
    const auto amount_at = [&](std::size_t hour) { return format_amount(to_micros(price.per_hour().at(hour))); };
    const std::string usual = amount_at(0);
    std::map<HoursAtPrice, std::vector<std::string_view>> days_of;
    for (std::size_t day = 0; day < kDays; ++day) {
        for (std::size_t from = 0, to = 0; from < kHours; from = to) {
            const std::string amount = amount_at(day * kHours + from);
            for (to = from + 1; to < kHours && amount_at(day * kHours + to) == amount;)
                ++to;
            if (amount != usual) days_of[{from, to, amount}].push_back(kDayNames.at(day));
        }
    }
    Json json = {{"per_unit_hour", usual}};
    for (const auto& [hours, days] : days_of) {
        Json band = {{"from_hour", hours.from}, {"to_hour", hours.to}, {"per_unit_hour", hours.amount}};
        if (days.size() < kDays) band["days"] = days;
        json["bands"].push_back(std::move(band));
    }
    return json;
}

Json unit_type_json(const CentersFile& file, std::size_t index)
{
    const UnitType& unit_type = file.network.unit_types[index];
    Json rates = Json::object();
    for (std::size_t type = 0; type < unit_type.rates.size(); ++type)
        rates[file.network.job_types[type].name] = rate_json(unit_type.rates[type]);
    if (const auto& other = file.other_rates[index]) rates[std::string(kEveryJobType)] = rate_json(*other);
    Json json = {{"name", unit_type.name}, {"unit_count", unit_type.unit_count}, {"rates", std::move(rates)}};
    if (unit_type.peak_flops > 0) json["peak_flops"] = unit_type.peak_flops;
    if (unit_type.benchmark > 0) json["benchmark"] = unit_type.benchmark;
    if (unit_type.price.knows_power()) json["unit_power_w"] = unit_type.price.unit_power_w();
    if (unit_type.idle_power_w > 0) json["idle_power_w"] = unit_type.idle_power_w;
    const auto& hourly = unit_type.price.per_hour();
    if (std::any_of(hourly.begin(), hourly.end(), [](double price) { return price > 0; }))
        json["price"] = price_json(unit_type.price);
    if (unit_type.failures.mean_between_s > 0)
        json["failures"] = {{"mean_between_h", unit_type.failures.mean_between_s / 3600},
                            {"mean_repair_h", unit_type.failures.mean_repair_s / 3600}};
    return json;
}

Json center_json(const CentersFile& file, std::size_t index)
{
    const Center& center = file.network.centers[index];
    Json json = {{"name", center.name}, {"unit_types", Json::array()}};
    if (center.start_up_s > 0) json["start_up_s"] = center.start_up_s;
    for (const Closure& closure : center.closures)
        json["maintenance"].push_back({{"from_s", closure.from_s}, {"to_s", closure.to_s}});
    const auto& rates = center.network_rate_bytes;
    const bool is_even = std::all_of(rates.begin(), rates.end(), [&](double rate) { return rate == rates.front(); });
    if (!is_even)
        json["network_rate_bytes"] = rates;
    else if (rates.front() > 0)
        json["network_rate_bytes"] = rates.front();
    for (std::size_t u = 0; u < file.network.unit_types.size(); ++u) {
        if (file.network.unit_types[u].center == index) json["unit_types"].push_back(unit_type_json(file, u));
    }
    return json;
}

} // namespace

Json to_json(const KnowledgeSettings& knowledge)
{
    Json json = {{"learns", knowledge.learns},
                 {"trusts_estimates", knowledge.trusts_estimates},
                 {"counts_gpu_pairs", knowledge.counts_gpu_pairs}};
    for (const KnowledgeField& field : knowledge_fields())
        json[std::string(field.name)] = knowledge.*field.value;
    return json;
}

Json to_json(const CentersFile& file)
{
    Json json = {{"currency", file.network.currency}, {"knowledge", to_json(file.knowledge)}};
    if (file.begins) json["begins"] = format_rfc3339(*file.begins);
    // All of them, so that they keep their order when the file is read again.
    json["job_types"] = Json::array();
    for (std::size_t type = 0; type < file.network.job_types.size(); ++type) {
        Json item = {{"name", file.network.job_types[type].name}};
        if (file.tells_scaling[type]) item["scaling"] = text_of(file.network.job_types[type].scaling);
        json["job_types"].push_back(std::move(item));
    }
    json["centers"] = Json::array();
    for (std::size_t center = 0; center < file.network.centers.size(); ++center)
        json["centers"].push_back(center_json(file, center));
    return json;
}

} // namespace fathom::simulation
