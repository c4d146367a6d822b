#include "core/decide/routing/host_load.hpp"

#include <algorithm>

namespace fathom {

HostLoad host_load(const UnitTypeView& view, std::int64_t unit_count, double start_s, double end_s)
{
    const auto others = static_cast<double>(std::max<std::int64_t>(view.unit_count - unit_count, 0));
    const double taken = static_cast<double>(view.unit_count) - view.availability.mean_free(start_s, end_s);
    const auto cores = static_cast<double>(view.cores_per_unit);
    const double held_units = std::clamp(taken, 0.0, others);
    const MemoryUse mean = view.held_memory.mean(held_units);
    HostLoad load{.held = {.expected = held_units * cores, .most = others * cores, .pressure = mean.pressure},
                  .sensitivity = held_units * cores * mean.sensitivity};
    if (!view.other_cores) return load;
    const OtherCores& other = *view.other_cores;
    const double count = static_cast<double>(other.count);
    const double held_cores = std::clamp(count - other.free.mean_free(start_s, end_s), 0.0, count);
    const MemoryUse use = other.memory.mean(held_cores);
    const double all = load.held.expected + held_cores;
    if (held_cores > 0) load.held.pressure = (load.held.expected * mean.pressure + held_cores * use.pressure) / all;
    load.held.expected = all;
    load.held.most += count;
    load.sensitivity += held_cores * use.sensitivity;
    return load;
}

} // namespace fathom
