#include "core/decide/capacity/shared_devices.hpp"

#include "core/decide/capacity/availability.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace fathom {

std::int64_t units_of_whole_devices(std::int64_t units, std::int64_t units_per_device)
{
    return (units + units_per_device - 1) / units_per_device * units_per_device;
}

std::vector<std::int64_t> whole_device_takes(std::span<const DeviceTenant> tenants, std::int64_t unit_count,
                                             std::int64_t units_per_device)
{
    std::vector<std::int64_t> takes(tenants.size(), 0);
    std::map<std::int64_t, std::size_t> longest; // by device
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        const DeviceTenant& one = tenants[i];
        if (one.units.empty()) takes[i] = one.is_exclusive ? one.unit_count : one.unit_count * units_per_device;
        for (const std::int64_t unit : one.units) {
            const std::int64_t device = unit / units_per_device;
            if (unit < 0 || device >= unit_count / units_per_device) continue;
            const auto [known, is_first] = longest.try_emplace(device, i);
            if (!is_first && tenants[known->second].release_s < one.release_s) known->second = i;
        }
    }
    for (const auto& [device, tenant] : longest)
        takes[tenant] += units_per_device;
    return takes;
}

std::int64_t newly_shared_units(const Availability& free, const Availability& whole, double from_s, double to_s,
                                std::int64_t units, std::int64_t units_per_device)
{
    std::set<double> moments{from_s};
    for (const Availability* one : {&free, &whole}) {
        for (const Availability::Step& step : one->steps()) {
            if (step.from_s > from_s && step.from_s < to_s) moments.insert(step.from_s);
        }
    }
    std::int64_t most = 0;
    for (const double moment : moments) {
        const std::int64_t room = std::max<std::int64_t>(free.free_at(moment) - whole.free_at(moment), 0);
        most = std::max(most, units_of_whole_devices(std::max<std::int64_t>(units - room, 0), units_per_device));
    }
    return most;
}

} // namespace fathom
