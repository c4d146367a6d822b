#include "core/decide/routing/gpu_room_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fathom {
namespace {

/// How long to look ahead for GPU memory that nobody is known to give back.
constexpr double kMemoryLook_s = 60;

/// Until some units come back, since nobody knows who of them gives back how much.
double memory_return_s(const UnitTypeView& view)
{
    const std::vector<Availability::Step>& steps = view.availability.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].free > steps[i - 1].free) return steps[i].from_s;
    }
    return kMemoryLook_s;
}

} // namespace

double memory_wait_s(const UnitTypeView& view, const GpuMemoryRequest& need)
{
    return view.lacks_gpu_memory(need) ? memory_return_s(view) : 0;
}

GpuRoomCost find_gpu_room_cost(const UnitTypeView& view, const GpuMemoryRequest& learned, double start_s, double run_s)
{
    const GpuRoom* const gpu = learned.all_bytes() > 0 ? view.roomiest_gpu_expected(learned) : nullptr;
    const std::int64_t missing_bytes = gpu == nullptr ? 0 : gpu->missing_bytes(learned);
    if (missing_bytes <= 0) return {};
    const double wait_s = memory_return_s(view);
    if (!(start_s < wait_s)) return {};
    return {.had = learned, .missing_bytes = missing_bytes, .penalty_s = wait_s - start_s + run_s};
}

void expect_in_room(std::vector<GpuRoom>& rooms, const GpuMemoryRequest& need)
{
    const auto best = std::min_element(rooms.begin(), rooms.end(), [&](const GpuRoom& a, const GpuRoom& b) {
        const std::int64_t missing_of_a = a.missing_bytes(need);
        const std::int64_t missing_of_b = b.missing_bytes(need);
        if ((missing_of_a <= 0) != (missing_of_b <= 0)) return missing_of_a <= 0;
        return missing_of_a <= 0 ? missing_of_a > missing_of_b : missing_of_a < missing_of_b;
    });
    if (best != rooms.end()) best->admit(need);
}

} // namespace fathom
