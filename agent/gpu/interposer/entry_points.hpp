#pragma once

#include <cstddef>

/// The functions of the driver that this library has as well (entry_points.def).
namespace fathom::gpu {

/// Those that run only with the turn.
enum class WorkEntry : std::size_t {
#define FATHOM_WORK(name, words) name,
#define FATHOM_OWN(name)
#define FATHOM_PASSED(name, reason)
#include "agent/gpu/interposer/entry_points.def"
#undef FATHOM_WORK
#undef FATHOM_OWN
#undef FATHOM_PASSED
};

/// This library's function of that name; null if it has none.
void* own_function(const char* name);
/// The same of NVIDIA's management library (management.cpp).
void* own_management_function(const char* name);
/// The same of NVIDIA's library for collective calls (collective_calls.cpp).
/// @param of_nccl  that library's own, to which this library's leads where nothing else is found for who calls it;
///                 null: nothing is known
/// @return         null also where this library's function leads to that of another NCCL
void* own_collective_function(const char* name, void* of_nccl);
/// This library's function in place of the driver's; `function` itself if it has none for it.
void* own_for(void* function);

} // namespace fathom::gpu
