#include "core/model/unit_cut.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kMaxUnitMemoryBytes = 1LL << 50U;
constexpr std::size_t kMaxCutText = 128;
// All types' labels together must fit into the facts that a metascheduler takes.
constexpr std::size_t kMaxLabels = 16;
constexpr std::size_t kMaxLabelBytes = 128;

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
    cut.device_model = reader.optional_string("device_model", {.max_length = kMaxCutText}).value_or("");
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

bool has_control(const std::string& text)
{
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

std::map<std::string, std::string> read_labels(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::map<std::string, std::string> labels;
    const Json* const json = reader.object("labels");
    if (json == nullptr) return labels;
    if (json->size() > kMaxLabels) reader.fail("labels", "has more than " + std::to_string(kMaxLabels) + " entries");
    ObjectReader item(*json, reader.path_of("labels"), errors);
    for (const auto& [name, value] : json->items()) {
        if (name.empty() || name.size() > 64 || has_control(name))
            item.fail(name, "is not a name of 1 to 64 bytes without control characters");
        labels[name] = item.required_string(name, {.max_length = kMaxLabelBytes});
        if (has_control(labels[name])) item.fail(name, "must not contain control characters");
    }
    return labels;
}

UnitCut read_unit_cut(const Json& json, const std::string& path, UnknownFields unknown, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitCut cut;
    cut.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxCutText});
    cut.resource_type = reader.optional_string("resource_type", {.min_length = 1, .max_length = 32}).value_or("cpu");
    cut.processors = read_processors(reader);
    cut.numa = read_numa(reader);
    const std::int64_t least_cores = cut.resource_type == "cpu" ? 1 : 0;
    if (cut.numa == NumaRule::kWhole && reader.has("cores_per_unit"))
        reader.fail("cores_per_unit", "is what the NUMA node has where numa is \"whole\"");
    cut.cores_per_unit = reader.optional_integer("cores_per_unit", least_cores, 65536).value_or(1);
    cut.unit_count = reader.optional_integer("unit_count", 0, 65536).value_or(0);
    cut.memory_bytes_per_unit = reader.optional_integer("memory_bytes_per_unit", 0, kMaxUnitMemoryBytes).value_or(0);
    read_device_part(reader, cut);
    cut.operators = reader.strings("operators", 1000, {.min_length = 1, .max_length = 64});
    cut.partition = reader.optional_string("partition", {.max_length = kMaxCutText}).value_or("");
    cut.constraint = reader.optional_string("constraint", {.max_length = 1000}).value_or("");
    cut.labels = read_labels(reader, errors);
    reader.finish(unknown);
    return cut;
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

std::vector<UnitCut> read_unit_cuts(ObjectReader& reader, std::string_view field, std::size_t least_count,
                                    UnknownFields unknown, std::vector<FieldError>& errors)
{
    std::vector<UnitCut> cuts;
    const Json* items = reader.has(field) ? reader.array(field, least_count, kMaxUnitCuts) : nullptr;
    if (items == nullptr) return cuts;
    std::set<std::string> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = reader.path_of(std::string(field) + "[" + std::to_string(i) + "]");
        cuts.push_back(read_unit_cut((*items)[i], path, unknown, errors));
        if (!names.insert(cuts.back().name).second) errors.push_back({path + ".name", "is duplicated"});
    }
    return cuts;
}

Json to_json(const UnitCut& cut)
{
    Json json = {{"name", cut.name}};
    const bool has_devices = cut.resource_type != "cpu";
    if (has_devices) json["resource_type"] = cut.resource_type;
    if (cut.unit_count > 0) json["unit_count"] = cut.unit_count;
    if (cut.numa != NumaRule::kWhole) json["cores_per_unit"] = cut.cores_per_unit;
    if (cut.processors == ProcessorKind::kThread) json["processors"] = "threads";
    if (cut.numa != NumaRule::kPrefer) json["numa"] = cut.numa == NumaRule::kWithin ? "within" : "whole";
    if (has_devices) json["devices_per_unit"] = cut.devices_per_unit;
    if (cut.sharing != DeviceSharing::kNone) json["sharing"] = to_string(cut.sharing);
    if (cut.parts_per_device > 1) json["parts_per_device"] = cut.parts_per_device;
    if (!cut.device_model.empty()) json["device_model"] = cut.device_model;
    if (cut.memory_bytes_per_unit > 0) json["memory_bytes_per_unit"] = cut.memory_bytes_per_unit;
    if (!cut.operators.empty()) json["operators"] = cut.operators;
    if (!cut.partition.empty()) json["partition"] = cut.partition;
    if (!cut.constraint.empty()) json["constraint"] = cut.constraint;
    if (!cut.labels.empty()) json["labels"] = cut.labels;
    return json;
}

} // namespace fathom
