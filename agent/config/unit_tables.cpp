#include "agent/config/unit_tables.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxMemoryBytes = 1LL << 50U;
constexpr std::size_t kMaxText = 128;
constexpr std::size_t kMaxPath = 256;

ProcessorKind read_processors(ObjectReader& reader)
{
    const auto text = reader.optional_string("processors", {.one_of = {"cores", "threads"}});
    return text == "threads" ? ProcessorKind::kThread : ProcessorKind::kCore;
}

NumaRule read_numa(ObjectReader& reader)
{
    const auto text = reader.optional_string("numa", {.one_of = {"prefer", "within", "whole"}});
    if (text == "within") return NumaRule::kWithin;
    return text == "whole" ? NumaRule::kWhole : NumaRule::kPrefer;
}

DeviceSharing read_sharing(ObjectReader& reader)
{
    const auto text = reader.optional_string("sharing", {.one_of = {"none", "mps", "time-slice", "mig"}});
    if (text == "mps") return DeviceSharing::kMps;
    if (text == "time-slice") return DeviceSharing::kTimeSlice;
    return text == "mig" ? DeviceSharing::kMig : DeviceSharing::kNone;
}

/// The keys of a device's unit; of "cpu" none may stand there.
void read_device_part(ObjectReader& reader, UnitCut& cut)
{
    const bool has_devices = cut.resource_type != "cpu";
    if (!has_devices) {
        for (const char* key : {"devices_per_unit", "sharing", "parts_per_device", "device_model"}) {
            if (reader.has(key)) reader.fail(key, "is for units with devices, and this one's resource_type is cpu");
        }
    }
    cut.devices_per_unit = reader.optional_integer("devices_per_unit", 1, kMaxDevices).value_or(has_devices ? 1 : 0);
    cut.sharing = read_sharing(reader);
    cut.parts_per_device = reader.optional_integer("parts_per_device", 1, kMaxDevices).value_or(1);
    cut.device_model = reader.optional_string("device_model", {.max_length = kMaxText}).value_or("");
    const bool is_divided = cut.sharing == DeviceSharing::kMps || cut.sharing == DeviceSharing::kTimeSlice;
    if (reader.has("parts_per_device") && !is_divided)
        reader.fail("parts_per_device", "needs sharing = \"mps\" or \"time-slice\"");
    if (is_divided && cut.parts_per_device < 2) reader.fail("parts_per_device", "must be at least 2 with this sharing");
    const bool is_nvidias = cut.sharing == DeviceSharing::kMps || cut.sharing == DeviceSharing::kMig;
    if (is_nvidias && cut.resource_type != "cuda")
        reader.fail("sharing", "is a way of NVIDIA's GPUs: resource_type must be cuda");
    if (has_devices && cut.cores_per_unit == 0 && cut.memory_bytes_per_unit == 0)
        reader.fail("memory_bytes_per_unit", "must be given where a unit has no cores of its own");
}

UnitCut read_unit_cut(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitCut cut;
    cut.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxText});
    cut.resource_type = reader.optional_string("resource_type", {.min_length = 1, .max_length = 32}).value_or("cpu");
    cut.processors = read_processors(reader);
    cut.numa = read_numa(reader);
    const std::int64_t least_cores = cut.resource_type == "cpu" ? 1 : 0;
    if (cut.numa == NumaRule::kWhole && reader.has("cores_per_unit"))
        reader.fail("cores_per_unit", "is what the NUMA node has where numa is \"whole\"");
    cut.cores_per_unit = reader.optional_integer("cores_per_unit", least_cores, 65536).value_or(1);
    cut.unit_count = reader.optional_integer("unit_count", 0, 65536).value_or(0);
    cut.memory_bytes_per_unit = reader.optional_integer("memory_bytes_per_unit", 0, kMaxMemoryBytes).value_or(0);
    read_device_part(reader, cut);
    cut.operators = reader.strings("operators", 1000, {.min_length = 1, .max_length = 64});
    cut.partition = reader.optional_string("partition", {.max_length = kMaxText}).value_or("");
    cut.constraint = reader.optional_string("constraint", {.max_length = 1000}).value_or("");
    reader.finish(UnknownFields::kReject);
    return cut;
}

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

std::string_view to_string(DeviceSharing sharing)
{
    switch (sharing) {
    case DeviceSharing::kNone:
        return "none";
    case DeviceSharing::kMps:
        return "mps";
    case DeviceSharing::kTimeSlice:
        return "time-slice";
    case DeviceSharing::kMig:
        return "mig";
    }
    return "none";
}

std::vector<UnitCut> read_unit_cuts(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<UnitCut> cuts;
    const Json* items = reader.has("unit_type") ? reader.array("unit_type", 1, 100) : nullptr;
    if (items == nullptr) return cuts;
    std::set<std::string> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = "unit_type[" + std::to_string(i) + "]";
        cuts.push_back(read_unit_cut((*items)[i], path, errors));
        if (!names.insert(cuts.back().name).second) errors.push_back({path + ".name", "stands twice"});
    }
    return cuts;
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
        if (!kinds.insert(devices.back().kind).second) errors.push_back({path + ".kind", "stands twice"});
    }
    return devices;
}

} // namespace fathom::agent
