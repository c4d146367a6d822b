#include "agent/config/gpu_memory_table.hpp"

namespace fathom::agent {
namespace {

constexpr double kMinTurn_s = 0.001;
constexpr double kMaxTurn_s = 3600;
constexpr double kMaxWait_s = 86'400;

} // namespace

GpuMemoryConfig read_gpu_memory(ObjectReader& reader, std::vector<FieldError>& errors)
{
    GpuMemoryConfig config;
    const Json* const json = reader.has("gpu_memory") ? reader.object("gpu_memory") : nullptr;
    if (json == nullptr) return config;
    ObjectReader table(*json, "gpu_memory", errors);
    gpu::TurnSettings& turns = config.turns;
    config.enabled = table.optional_boolean("enabled").value_or(config.enabled);
    config.gap_bytes = table.optional_integer("gap_bytes", 0, gpu::kMaxBytes).value_or(config.gap_bytes);
    config.reserved_bytes = table.optional_integer("reserved_bytes", 0, gpu::kMaxBytes).value_or(config.reserved_bytes);
    turns.slice_s = table.optional_number("slice_s", kMinTurn_s, kMaxTurn_s).value_or(turns.slice_s);
    turns.most_slice_s = table.optional_number("most_slice_s", kMinTurn_s, kMaxTurn_s).value_or(turns.most_slice_s);
    turns.most_wait_s = table.optional_number("most_wait_s", kMinTurn_s, kMaxWait_s).value_or(turns.most_wait_s);
    turns.most_overrun_s = table.optional_number("most_overrun_s", 0, kMaxWait_s).value_or(turns.most_overrun_s);
    turns.at_once = static_cast<std::size_t>(
        table.optional_integer("at_once", 1, static_cast<std::int64_t>(gpu::kMaxAtOnce)).value_or(1));
    if (turns.most_slice_s < turns.slice_s) table.fail("most_slice_s", "must not be less than slice_s");
    table.finish(UnknownFields::kReject);
    return config;
}

} // namespace fathom::agent
