#pragma once

#include "core/decide/routing/route.hpp"

#include <vector>

/// What it counts for that the GPUs of a unit type may not have the memory that a job needs (G8).
namespace fathom {

/// Until there may be the GPU memory that a job needs: nobody knows how much comes back when, so until some units do.
double memory_wait_s(const UnitTypeView& view, const GpuMemoryRequest& need);

/// Of a job that says no need, where earlier runs had more, with a gap, than any GPU that jobs share there has now. It
/// may need less, so it neither waits nor is it refused; the place counts as if it failed there, and ran again once
/// there may be the memory. What those are expected to have who were placed there counts as theirs.
/// @param learned  all 0: nothing is known.
/// @param start_s  when it would start; then memory may have come back already, and the place counts for nothing more.
GpuRoomCost find_gpu_room_cost(const UnitTypeView& view, const GpuMemoryRequest& learned, double start_s, double run_s);

/// Counts what a job that was placed is expected to have of a GPU's memory on that one of these which it fits best,
/// since centers first fill GPUs that are in use in part; where it fits none, on the one with most room.
void expect_in_room(std::vector<GpuRoom>& rooms, const GpuMemoryRequest& need);

} // namespace fathom
