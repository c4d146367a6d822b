#include "core/decide/routing/host_load.hpp"

#include <algorithm>

namespace fathom {
namespace {

double units_beside(const UnitTypeView& view, std::int64_t unit_count)
{
    return static_cast<double>(std::max<std::int64_t>(view.unit_count - unit_count, 0));
}

} // namespace

HostLoad host_load(const UnitTypeView& view, std::int64_t unit_count, const HeldOfHost& held)
{
    const auto cores = static_cast<double>(view.cores_per_unit);
    const MemoryUse mean = view.held_memory.mean(held.units);
    HostLoad load{.held = {.expected = held.units * cores,
                           .most = units_beside(view, unit_count) * cores,
                           .pressure = mean.pressure},
                  .sensitivity = held.units * cores * mean.sensitivity};
    if (!view.other_cores) return load;
    const OtherCores& other = *view.other_cores;
    const MemoryUse use = other.memory.mean(held.other_cores);
    const double all = load.held.expected + held.other_cores;
    if (held.other_cores > 0)
        load.held.pressure = (load.held.expected * mean.pressure + held.other_cores * use.pressure) / all;
    load.held.expected = all;
    load.held.most += static_cast<double>(other.count);
    load.sensitivity += held.other_cores * use.sensitivity;
    return load;
}

HostLoad host_load(const UnitTypeView& view, std::int64_t unit_count, double start_s, double end_s)
{
    const double taken = static_cast<double>(view.unit_count) - view.availability.mean_free(start_s, end_s);
    HeldOfHost held{.units = std::clamp(taken, 0.0, units_beside(view, unit_count))};
    if (view.other_cores) {
        const auto count = static_cast<double>(view.other_cores->count);
        held.other_cores = std::clamp(count - view.other_cores->free.mean_free(start_s, end_s), 0.0, count);
    }
    return host_load(view, unit_count, held);
}

} // namespace fathom
