#include "agent/catalog/device_pool.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace fathom::agent {
namespace {

bool is_for(const UnitCut& cut, const HostDevice& device)
{
    return device.kind == cut.resource_type && device.is_mig_part == (cut.sharing == DeviceSharing::kMig) &&
           device.model.find(cut.device_model) != std::string::npos;
}

} // namespace

DevicePool::DevicePool(std::vector<HostDevice> devices)
{
    std::map<std::int64_t, std::vector<HostDevice>> by_node; // in each, their order stays
    for (HostDevice& device : devices)
        by_node[device.numa_node].push_back(std::move(device));
    for (auto& [node, some] : by_node)
        std::move(some.begin(), some.end(), std::back_inserter(devices_));
}

std::size_t DevicePool::left(const UnitCut& cut) const
{
    const auto count =
        std::count_if(devices_.begin(), devices_.end(), [&](const HostDevice& device) { return is_for(cut, device); });
    return static_cast<std::size_t>(count * cut.parts_per_device);
}

std::size_t DevicePool::fitting(const UnitCut& cut) const
{
    return left(cut) / static_cast<std::size_t>(cut.devices_per_unit);
}

std::vector<std::vector<UnitDevice>> DevicePool::take(const UnitCut& cut, std::size_t units)
{
    const auto each = static_cast<std::size_t>(cut.devices_per_unit);
    std::vector<std::vector<UnitDevice>> taken(units);
    std::size_t next = 0; // of the parts of all units together
    for (auto device = devices_.begin(); device != devices_.end() && next < units * each;) {
        if (!is_for(cut, *device)) {
            ++device;
            continue;
        }
        for (std::int64_t part = 0; part < cut.parts_per_device && next < units * each; ++part, ++next)
            taken[next / each].push_back({*device, part, cut.parts_per_device});
        device = devices_.erase(device);
    }
    return taken;
}

} // namespace fathom::agent
