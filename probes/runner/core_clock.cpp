#include "probes/runner/core_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace fathom::probes {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kHasChain = true;
constexpr int kBlock = 64;
constexpr int kBlocks = 256;

/// Each addition waits for the one before. Both operands are registers: additions of constants may be merged.
void run_chain()
{
    std::uint64_t sum = 0;
    const std::uint64_t step = 1;
    for (int block = 0; block < kBlocks; ++block) {
#if defined(__x86_64__)
        asm volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc");
#else
        asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#endif
    }
}
#else
constexpr bool kHasChain = false;
constexpr int kBlock = 0;
constexpr int kBlocks = 0;

void run_chain() {}
#endif

} // namespace

double measure_core_clock_hz()
{
    if (!kHasChain) return 0;
    double shortest_s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) { // whatever interrupts one of them hardly hits all
        const auto start = std::chrono::steady_clock::now();
        run_chain();
        const auto end = std::chrono::steady_clock::now();
        shortest_s = std::min(shortest_s, std::chrono::duration<double>(end - start).count());
    }
    return shortest_s > 0 ? kBlock * kBlocks / shortest_s : 0;
}

} // namespace fathom::probes
