#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What processors can do at most, by what they say of themselves.
namespace fathom {

/// Floating-point operations that one core can finish in one clock cycle, at most: two units that multiply and add
/// over the widest vectors of these instruction sets; for numbers of 16 bits or less the tiles of AMX where there are
/// some. Processors that split wide instructions, or have one such unit, reach half of it.
///
/// Widths: AVX-512 512 bits, AVX or AVX2 256, else 128 (SSE, NEON: four units of Arm's large cores count as two of
/// 256); SVE 512. Numbers that no instruction multiplies directly count by the type that they are widened to.
/// @param isa        as in the host facts of a probe result: "avx2", "avx512f", "amx_bf16", "asimd", …; may be empty.
/// @param precision  of a manifest: "fp64", "fp32", "fp16", "bf16", "int8"; others count as 8 bits, which is generous.
double peak_flops_per_cycle(std::span<const std::string> isa, std::string_view precision);

/// What bounds a rate from above.
struct RateBounds {
    double flops{}; ///< operations/s
    double bytes_per_s{};
};

/// What no processor can exceed, by a wide margin: peak_flops_per_cycle at 6 GHz on each core; for memory 2 TB/s a
/// socket, or, where it is more, 128 bytes a core and cycle out of caches.
/// @param cores    threads in use, >= 1.
/// @param sockets  >= 1.
RateBounds processor_bounds(std::span<const std::string> isa, std::string_view precision, std::int64_t cores,
                            std::int64_t sockets);

/// What no GPU can exceed, by a wide margin: at 3 GHz on each multiprocessor, 512 operations a cycle in fp64, 4 096 in
/// fp32 (tensor units included), 16 384 in fewer bits; 20 TB/s of memory.
/// @param multiprocessors  >= 1.
RateBounds gpu_bounds(std::string_view precision, std::int64_t multiprocessors);

} // namespace fathom
