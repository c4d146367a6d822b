#include "core/decide/routing/gpu_room_cost.hpp"

#include <vector>

namespace fathom {
namespace {

/// How long to look ahead for GPU memory that nobody is known to give back.
constexpr double kMemoryLook_s = 60;

} // namespace

double memory_wait_s(const UnitTypeView& view, const GpuMemoryRequest& need)
{
    if (!view.lacks_gpu_memory(need)) return 0;
    const std::vector<Availability::Step>& steps = view.availability.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].free > steps[i - 1].free) return steps[i].from_s;
    }
    return kMemoryLook_s;
}

GpuRoomCost find_gpu_room_cost(const UnitTypeView& view, const GpuMemoryRequest& learned, double start_s, double run_s)
{
    const double wait_s = memory_wait_s(view, learned);
    if (!(start_s < wait_s)) return {};
    return {.had = learned,
            .missing_bytes = view.roomiest_gpu(learned)->missing_bytes(learned),
            .penalty_s = wait_s - start_s + run_s};
}

} // namespace fathom
