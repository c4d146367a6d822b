#include "server/routing/in_use/device_tenants.hpp"

#include "server/store/column.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::server {

void DeviceTenants::add(const pqxx::row& row)
{
    DeviceTenant tenant;
    tenant.units = to_json_value(row["units"]).get<std::vector<std::int64_t>>();
    tenant.unit_count = row["unit_count"].as<std::int64_t>();
    tenant.is_exclusive = row["is_exclusive"].as<bool>();
    add(std::move(tenant), 0);
}

void DeviceTenants::add(DeviceTenant tenant, std::size_t reservation)
{
    tenants_.push_back(std::move(tenant));
    reservations_.push_back(reservation);
}

void DeviceTenants::set_takes(std::vector<Reservation>& reservations, const UnitTypeView& view) const
{
    const std::vector<std::int64_t> takes = whole_device_takes(tenants_, view.unit_count, view.units_per_device);
    for (std::size_t i = 0; i < takes.size(); ++i)
        reservations[reservations_[i]].whole_device_units = takes[i];
}

std::int64_t DeviceTenants::whole_units(std::int64_t unit_count, std::int64_t units_per_device) const
{
    const std::vector<std::int64_t> takes = whole_device_takes(tenants_, unit_count, units_per_device);
    const std::int64_t taken = std::accumulate(takes.begin(), takes.end(), std::int64_t{0});
    return std::max<std::int64_t>(unit_count / units_per_device * units_per_device - taken, 0);
}

bool has_divided_devices(std::span<const UnitTypeView> unit_types)
{
    return std::any_of(unit_types.begin(), unit_types.end(),
                       [](const UnitTypeView& view) { return view.units_per_device != 1; });
}

std::unordered_map<std::string, const UnitTypeView*> with_shared_devices(std::span<const UnitTypeView> unit_types)
{
    std::unordered_map<std::string, const UnitTypeView*> shared;
    for (const UnitTypeView& view : unit_types) {
        if (view.units_per_device > 1) shared.emplace(view.id.value, &view);
    }
    return shared;
}

} // namespace fathom::server
