#include "core/model/unit_request.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/job.hpp"
#include "core/model/name_limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kMaxMemoryBytes = std::int64_t{1} << 60U;
constexpr std::int64_t kMaxGpuMemoryBytes = std::int64_t{1} << 42U; ///< of one GPU
constexpr std::size_t kMaxInstructionSets = 32;

/// A count and the limits of "auto"; limits that are not given make room for what is.
void parse_unit_count(ObjectReader& reader, UnitRequest& request, std::vector<FieldError>& errors)
{
    const Json* count = reader.any("count");
    if (count != nullptr && *count != Json("auto")) {
        const std::size_t before = errors.size();
        const std::int64_t value = reader.required_integer("count", 1, 1000000);
        if (errors.size() == before)
            request.count = value;
        else
            errors.back().detail += ", or \"auto\"";
    }
    request.min = reader.optional_integer("min", 1, 1000000).value_or(request.min);
    const std::int64_t least_max = std::max({request.max, request.min, request.count.value_or(1)});
    request.max = reader.optional_integer("max", 1, 1000000).value_or(least_max);
    if (request.min > request.max)
        reader.fail("max", "must not be below min");
    else if (request.count && (*request.count < request.min || *request.count > request.max))
        reader.fail("count", "is " + std::to_string(*request.count) + ", but min and max allow " +
                                 std::to_string(request.min) + " to " + std::to_string(request.max) +
                                 "; leave out min and max with a count of your own");
}

GpuMemoryRequest parse_gpu_memory(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    GpuMemoryRequest request;
    request.persistent_bytes = reader.required_integer("persistent_bytes", 0, kMaxGpuMemoryBytes);
    request.temporary_bytes = reader.optional_integer("temporary_bytes", 0, kMaxGpuMemoryBytes).value_or(0);
    reader.finish(UnknownFields::kReject);
    return request;
}

} // namespace

std::string_view to_string(UnitSharing sharing)
{
    return sharing == UnitSharing::kExclusive ? "exclusive" : "allowed";
}

UnitRequest parse_unit_request(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitRequest request;
    request.type = reader.optional_string("type", {.min_length = 1, .max_length = 128}).value_or("any");
    request.device = reader.optional_string("device", {.one_of = {"cpu", "gpu"}}).value_or("");
    request.isa = reader.strings("isa", kMaxInstructionSets, {.min_length = 1, .max_length = 64});
    request.memory_bytes = reader.optional_integer("memory_bytes", 0, kMaxMemoryBytes).value_or(0);
    if (const Json* gpu_memory = reader.object("gpu_memory"))
        request.gpu_memory = parse_gpu_memory(*gpu_memory, reader.path_of("gpu_memory"), errors);
    if (request.device == "cpu" && request.gpu_memory.all_bytes() > 0)
        reader.fail("gpu_memory", "is of GPUs, but device is cpu");
    request.center = reader.optional_string("center", {.max_length = kMaxCenterNameBytes}).value_or("");
    parse_unit_count(reader, request, errors);
    request.ignore_knee = reader.optional_boolean("ignore_knee").value_or(false);
    if (reader.optional_string("sharing", {.one_of = {"allowed", "exclusive"}}) == "exclusive")
        request.sharing = UnitSharing::kExclusive;
    reader.finish(UnknownFields::kReject);
    return request;
}

Json units_json(const UnitRequest& units)
{
    Json json = {
        {"type", units.type}, {"center", units.center}, {"count", units.count ? Json(*units.count) : Json("auto")},
        {"min", units.min},   {"max", units.max},       {"ignore_knee", units.ignore_knee}};
    if (!units.device.empty()) json["device"] = units.device;
    if (!units.isa.empty()) json["isa"] = units.isa;
    if (units.memory_bytes > 0) json["memory_bytes"] = units.memory_bytes;
    if (units.gpu_memory.all_bytes() > 0)
        json["gpu_memory"] = {{"persistent_bytes", units.gpu_memory.persistent_bytes},
                              {"temporary_bytes", units.gpu_memory.temporary_bytes}};
    if (units.is_exclusive()) json["sharing"] = to_string(units.sharing);
    return json;
}

} // namespace fathom
