#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::profile {

inline constexpr std::size_t kIntegerRegisters =
#if defined(__x86_64__)
    6;
#else
    8;
#endif
inline constexpr std::size_t kMaxStackWords = 28;

/// A call on its way through a stub: the caller's argument registers, and what we keep until it returns.
/// forward_*.S knows the offsets.
struct CallFrame {
    std::uint64_t registers[8]; ///< integer arguments; the first kIntegerRegisters are in use
    std::uint64_t symbol;       ///< index into kSymbols
    void* real;                 ///< bound by dlsym(), or null: to be found
    const std::uint64_t* stack; ///< the caller's further arguments
    void* return_address;       ///< into the caller
    std::uint64_t stack_words;  ///< set by enter(): how many of them are passed on
    std::uint64_t result;       ///< set before leave(): what the function returned
    std::uint64_t start_ticks;  ///< from here on: ours alone
    std::uint64_t entry;        ///< index of the entry + 1; 0: in the overflow
    std::uint64_t outcome;      ///< a Visit
    const void* written[2];     ///< buffers that the call writes
    std::uint64_t bytes_before; ///< of Action::kBytes: what had gone through before the call
};
static_assert(offsetof(CallFrame, symbol) == 64 && offsetof(CallFrame, real) == 72 &&
              offsetof(CallFrame, stack) == 80 && offsetof(CallFrame, return_address) == 88 &&
              offsetof(CallFrame, stack_words) == 96 && offsetof(CallFrame, result) == 104 && sizeof(CallFrame) == 160);

/// What a call through a stub turned out to be.
enum Visit : std::uint64_t {
    kNested,  ///< inside another operator, or a query: not counted
    kCounted, ///< an operator
    kNoted,   ///< makes or destroys an object whose sizes matter
};

extern "C" {
/// Called by every stub before the real function. @return the real function.
void* fathom_profile_enter(CallFrame* frame);
/// Called by every stub after it.
void fathom_profile_leave(CallFrame* frame);
}

} // namespace fathom::profile
