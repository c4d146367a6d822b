#include "agent/catalog/device.hpp"

#include <algorithm>

namespace fathom::agent {

std::string device_name(const UnitDevice& device)
{
    if (device.parts == 1) return device.device.id;
    return device.device.id + "#" + std::to_string(device.part) + "/" + std::to_string(device.parts);
}

std::string_view whole_device_name(std::string_view name)
{
    return name.substr(0, name.find('#'));
}

bool devices_overlap(std::string_view a, std::string_view b)
{
    if (whole_device_name(a) != whole_device_name(b)) return false;
    // Different parts of the same cut are apart; else one is whole, or they were cut otherwise.
    const std::size_t slash_a = a.find('/', a.find('#'));
    const std::size_t slash_b = b.find('/', b.find('#'));
    const bool is_same_cut = slash_a != std::string_view::npos && slash_b != std::string_view::npos &&
                             a.substr(slash_a) == b.substr(slash_b);
    return !is_same_cut || a == b;
}

std::vector<HostDevice> described_devices(const std::vector<DeviceDescription>& descriptions,
                                          const std::function<bool(const std::string& path)>& exists,
                                          std::vector<std::string>& missing)
{
    std::vector<HostDevice> devices;
    for (const DeviceDescription& one : descriptions) {
        for (std::size_t number = 0; number < one.values.size(); ++number) {
            HostDevice device{.kind = one.kind,
                              .id = one.kind + "-" + std::to_string(number),
                              .model = one.model,
                              .memory_bytes = one.memory_bytes,
                              .variable = one.variable,
                              .value = one.values[number],
                              .files = one.shared_files};
            if (!one.files.empty()) device.files.push_back(one.files[number]);
            const auto absent = std::find_if_not(device.files.begin(), device.files.end(), exists);
            if (absent == device.files.end())
                devices.push_back(std::move(device));
            else
                missing.push_back("device " + device.id + " is described, and " + *absent + " is not there");
        }
    }
    return devices;
}

} // namespace fathom::agent
