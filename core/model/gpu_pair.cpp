#include "core/model/gpu_pair.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/kernel_class.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

// As the model of pairs takes them (core/decide/corun/pair_model.hpp).
constexpr double kMinShare = 1e-4;
constexpr double kMaxShare = 4;
constexpr std::int64_t kMaxRuns = 1'000'000'000;

KernelClass read_class(ObjectReader& reader, std::string_view name)
{
    return parse_kernel_class(reader.optional_string(name, {.max_length = 32}).value_or(""))
        .value_or(KernelClass::kUnknown);
}

} // namespace

std::vector<GpuPair> read_gpu_pairs(ObjectReader& reader, std::string_view name, std::vector<FieldError>& errors)
{
    std::vector<GpuPair> pairs;
    const Json* const items = reader.array(name, 0, kMaxGpuPairs);
    if (items == nullptr) return pairs;
    for (const Json& json : *items) {
        ObjectReader item(json, std::string(name) + "[]", errors);
        GpuPair& pair = pairs.emplace_back();
        pair.a = item.required_string("a", {.min_length = 1, .max_length = kMaxGpuKind});
        pair.b = item.required_string("b", {.min_length = 1, .max_length = kMaxGpuKind});
        pair.a_class = read_class(item, "a_class");
        pair.b_class = read_class(item, "b_class");
        pair.a_share = item.required_number("a_share", kMinShare, kMaxShare);
        pair.b_share = item.required_number("b_share", kMinShare, kMaxShare);
        pair.count = item.optional_integer("count", 1, kMaxRuns).value_or(1);
        pair.a_spread = item.optional_number("a_spread", 0, kMaxShare).value_or(0);
        pair.b_spread = item.optional_number("b_spread", 0, kMaxShare).value_or(0);
    }
    return pairs;
}

Json to_json(const GpuPair& pair)
{
    Json json = {
        {"a", pair.a}, {"b", pair.b}, {"a_share", pair.a_share}, {"b_share", pair.b_share}, {"count", pair.count}};
    if (pair.a_class != KernelClass::kUnknown) json["a_class"] = to_string(pair.a_class);
    if (pair.b_class != KernelClass::kUnknown) json["b_class"] = to_string(pair.b_class);
    if (pair.a_spread > 0) json["a_spread"] = pair.a_spread;
    if (pair.b_spread > 0) json["b_spread"] = pair.b_spread;
    return json;
}

} // namespace fathom
