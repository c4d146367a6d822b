#include "core/schedule/unmeasured_places.hpp"

#include "core/base/byte_key.hpp"
#include "core/decide/routing/removing_filters.hpp"

namespace fathom {
namespace {

/// All that the answer depends on.
std::string measuring_key(const RouteRequest& request, std::chrono::seconds period)
{
    std::string key;
    byte_key::add(key, request.operators.size());
    for (const OperatorDemand& demand : request.operators) {
        byte_key::add(key, demand.operator_id);
        byte_key::add(key, demand.parameters_key);
    }
    const UnitRequest& units = request.units;
    for (const std::string* text : {&units.type, &units.device, &units.center})
        byte_key::add(key, *text);
    for (const auto* texts : {&units.isa, &request.sites, &request.project_centers, &request.refused_by})
        byte_key::add(key, *texts);
    byte_key::add(key, units.memory_bytes);
    byte_key::add(key, units.gpu_memory.all_bytes());
    byte_key::add(key, units.count.value_or(units.min));
    byte_key::add(key, units.sharing);
    byte_key::add(key, request.software.modules);
    byte_key::add(key, request.software.containers);
    byte_key::add(key, request.wall_limit_s);
    byte_key::add(key, request.is_probe);
    byte_key::add(key, period.count());
    return key;
}

} // namespace

const std::vector<std::size_t>& UnmeasuredPlaces::find(const RouteRequest& request, std::chrono::seconds period)
{
    const auto [known, is_new] = known_.try_emplace(measuring_key(request, period));
    if (is_new) known->second = list(request, period);
    return known->second;
}

std::vector<std::size_t> UnmeasuredPlaces::list(const RouteRequest& request, std::chrono::seconds period)
{
    const std::size_t size = columns_->size();
    const Timestamp oldest = now_ - period;
    std::vector<std::uint8_t> old_marks(size, 0);
    std::vector<std::uint8_t> runner_marks(size, 1);
    // Not the vectors: their checks would take most of the time of a scan.
    std::uint8_t* const is_old = old_marks.data();
    std::uint8_t* const runs_operators = runner_marks.data();
    for (const OperatorDemand& demand : request.operators) {
        const Timestamp* const measured_at = columns_->measured_at(demand.operator_id, demand.parameters_key).data();
        for (std::size_t i = 0; i < size; ++i)
            is_old[i] = static_cast<std::uint8_t>(is_old[i] | (measured_at[i] < oldest ? 1 : 0));
        const std::uint8_t* const offers = columns_->offers(demand.operator_id).data();
        for (std::size_t i = 0; i < size; ++i)
            runs_operators[i] = static_cast<std::uint8_t>(runs_operators[i] & offers[i]);
    }
    const RemovingFilters filters(request, columns_->unit_types(), *columns_);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < size; ++i) {
        if (is_old[i] != 0 && filters.of(i, runs_operators[i] != 0) == kFilterCount) found.push_back(i);
    }
    return found;
}

} // namespace fathom
