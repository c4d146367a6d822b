#include "agent/config/unit_tables.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxMemoryBytes = 1LL << 50U;
constexpr std::size_t kMaxText = 128;
constexpr std::size_t kMaxPath = 256;

bool is_device_file(const std::string& path)
{
    return path.starts_with("/dev/") && path.size() > 5 && path.find("..") == std::string::npos;
}

/// `{}` in a pattern is the device's number.
std::string with_number(std::string pattern, std::int64_t number)
{
    const std::size_t place = pattern.find("{}");
    return place == std::string::npos ? pattern : pattern.replace(place, 2, std::to_string(number));
}

bool is_variable_name(const std::string& name)
{
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c == '=' || c <= ' ' || c > '~'; });
}

DeviceDescription read_device(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    DeviceDescription device;
    device.kind = reader.required_string("kind", {.min_length = 1, .max_length = 32});
    if (device.kind == "cpu" || device.kind == "cuda") reader.fail("kind", "is found by itself: describe other kinds");
    device.model = reader.optional_string("model", {.max_length = kMaxText}).value_or(device.kind);
    const std::int64_t count = reader.required_integer("count", 1, kMaxDevices);
    device.memory_bytes = reader.optional_integer("memory_bytes", 0, kMaxMemoryBytes).value_or(0);
    device.variable = reader.optional_string("variable", {.max_length = kMaxText}).value_or("");
    if (!is_variable_name(device.variable)) reader.fail("variable", "is not a variable's name");
    const std::string value = reader.optional_string("value", {.min_length = 1, .max_length = kMaxText}).value_or("{}");
    const std::string file = reader.optional_string("file", {.max_length = kMaxPath}).value_or("");
    device.shared_files = reader.strings("shared_files", 100, {.max_length = kMaxPath});
    if (!file.empty() && !is_device_file(file)) reader.fail("file", "is not a file in /dev");
    if (count > 1 && !file.empty() && file.find("{}") == std::string::npos)
        reader.fail("file", "must have {} where the device's number stands");
    if (count > 1 && value.find("{}") == std::string::npos)
        reader.fail("value", "must have {} where the device's number stands");
    if (!std::all_of(device.shared_files.begin(), device.shared_files.end(), is_device_file))
        reader.fail("shared_files", "must be files in /dev");
    if (device.variable.empty() && file.empty())
        reader.fail("variable", "or file must say how a job is given a device");
    for (std::int64_t number = 0; number < count; ++number) {
        device.values.push_back(with_number(value, number));
        if (!file.empty()) device.files.push_back(with_number(file, number));
    }
    reader.finish(UnknownFields::kReject);
    return device;
}

} // namespace

std::vector<UnitCut> read_unit_cuts(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return fathom::read_unit_cuts(reader, "unit_type", 1, UnknownFields::kReject, errors);
}

std::vector<DeviceDescription> read_devices(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<DeviceDescription> devices;
    const Json* items = reader.has("device") ? reader.array("device", 1, 100) : nullptr;
    if (items == nullptr) return devices;
    std::set<std::string> kinds;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = "device[" + std::to_string(i) + "]";
        devices.push_back(read_device((*items)[i], path, errors));
        if (!kinds.insert(devices.back().kind).second) errors.push_back({path + ".kind", "is duplicated"});
    }
    return devices;
}

} // namespace fathom::agent
