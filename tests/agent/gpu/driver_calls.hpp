#pragma once

#include "agent/gpu/cuda_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

/// What the ways of the program driver_calls share.
namespace driver_calls {

inline constexpr std::size_t kMiB = 1U << 20U;
inline constexpr unsigned kNonBlocking = 1; ///< CU_STREAM_NON_BLOCKING

/// Ends the program where it is not so.
void require(bool is_so, const std::string& what);
void require(fathom::gpu::cuda::Status status, const std::string& what);

/// The manager learns at the end of an iteration what is used. Then the test looks, and goes on by making the file.
void pause(const std::string& name);
/// The same without an end of an iteration.
void wait_for(const std::string& name);
/// Whether the test has said that this may go on.
bool is_told(const std::string& name);

/// A context of the first GPU, current on this thread.
void make_context();
fathom::gpu::cuda::Address allocate(std::size_t bytes);
void release(fathom::gpu::cuda::Address address);
/// What cuMemGetInfo says.
std::size_t free_bytes();
/// A function that the preloaded library has and the driver has not.
void set_kind(int kind);

/// `fill`, `check` or `spin`, of the stand-in driver.
void* kernel(const char* name);
void launch(void* function, fathom::gpu::cuda::Address address, std::size_t bytes, std::uint64_t value,
            fathom::gpu::cuda::Stream stream);

// The ways, by the names that the test gives.
void contexts();
void mapped();
void handles_for_others();
void holds();
void kernels();
void kernels_of_contexts();
void kernels_without_context();
void view();
void view_alone();
void capture();
void capture_that_fails();
void graph_memory();
void graph_memory_beside();
void modules();
void libraries();
void allocations();
void launch_ex();
void launch_cooperative();
void launch_graph();
void released_in_use();
void many_iterations();
void many_releases();
void idle_children();
void stays();
void forks();
void grows();
void long_kernel();
void peers();
void pool_without_context();
void pools();
void peer_with_the_turn();
void two_contexts();
void children();
void child();
void clock_copies();
void clock_first();
void clock_graph();
void clock_later();
void clock_launches();
void clock_questions();
void clock_real();
void clock_second();
void clock_streams();

} // namespace driver_calls
