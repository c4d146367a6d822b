#include "core/decide/routing/unit_type_facts.hpp"

#include "core/decide/prediction/device_choice.hpp"

#include <chrono>
#include <map>
#include <tuple>

namespace fathom {
namespace {

/// What filters ask (core/decide/routing/route_filter).
auto asked_of(const UnitTypeFacts& facts)
{
    return std::tuple{facts.memory_bytes_per_unit,
                      facts.gpu_memory_bytes,
                      facts.unit_count,
                      facts.max_wall_s,
                      facts.units_per_device,
                      facts.is_device,
                      facts.takes_work,
                      facts.is_open_to_probes,
                      facts.closed_by};
}

} // namespace

UnitTypeFacts::UnitTypeFacts(const UnitTypeView& view)
    : memory_bytes_per_unit(view.memory_bytes_per_unit), gpu_memory_bytes(view.gpu_memory_bytes),
      unit_count(view.unit_count), max_wall_s(view.max_wall_s), units_per_device(view.units_per_device),
      trust_factor(view.trust_factor), queued_s(view.queued_s), has_network(view.network != nullptr),
      is_device(fathom::is_device(view.resource_type)), takes_work(view.closed_reason.empty()),
      is_open_to_probes(view.is_open_to_probes), closed_by(view.closed_by)
{
    if (view.price != nullptr) {
        constexpr double kHour_s = 3600;
        least_cost_per_s = view.price->least_per_hour() / kHour_s;
        power_w = view.price->unit_power_w();
    }
    has_own_hours = has_network && view.network->calendar().hour != Timestamp::duration(std::chrono::hours(1));
    if (has_network && view.network->best_rate_bytes() > 0) least_s_per_byte = 1 / view.network->best_rate_bytes();
}

void FactColumns::resize(std::size_t size)
{
    for (std::vector<double>* column : {&trust_factor, &least_cost_per_s, &power_w, &least_s_per_byte})
        column->resize(size);
    has_network.resize(size);
    has_own_hours.resize(size);
}

void FactColumns::set(std::size_t unit_type, const UnitTypeFacts& facts)
{
    trust_factor[unit_type] = facts.trust_factor;
    least_cost_per_s[unit_type] = facts.least_cost_per_s;
    power_w[unit_type] = facts.power_w;
    least_s_per_byte[unit_type] = facts.least_s_per_byte;
    has_network[unit_type] = facts.has_network ? 1 : 0;
    has_own_hours[unit_type] = facts.has_own_hours ? 1 : 0;
}

FactGroups::FactGroups(std::span<const UnitTypeFacts> facts)
{
    std::map<decltype(asked_of(UnitTypeFacts())), std::uint32_t> groups;
    group_of_.reserve(facts.size());
    for (const UnitTypeFacts& one : facts) {
        const auto [group, is_new] = groups.try_emplace(asked_of(one), static_cast<std::uint32_t>(facts_.size()));
        if (is_new) facts_.push_back(one);
        group_of_.push_back(group->second);
    }
}

void FactGroups::set(std::size_t unit_type, const UnitTypeFacts& facts)
{
    group_of_[unit_type] = static_cast<std::uint32_t>(facts_.size());
    facts_.push_back(facts);
}

} // namespace fathom
