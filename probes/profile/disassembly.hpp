#pragma once

#include "core/decide/probing/code_mix.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::profile {

enum class Processor { kX86_64, kAarch64 };

/// The processor that this program was built for.
#ifdef __aarch64__
inline constexpr Processor kThisProcessor = Processor::kAarch64;
#else
inline constexpr Processor kThisProcessor = Processor::kX86_64;
#endif

/// One instruction with what finding loops needs beside it.
struct Instruction {
    CodeInstruction code;
    std::uint64_t address{};
    std::uint64_t bytes{};               ///< its length
    std::optional<std::uint64_t> target; ///< of a branch to a place known beforehand
    bool is_call{};                      ///< comes back behind itself
    bool ends{};                         ///< nothing behind it belongs to it: return, jump elsewhere
    // Registers by a number of this file's own; 0: none.
    std::uint32_t result{};                   ///< general register that it writes
    bool result_is_loaded{};                  ///< ... with what it reads from memory, not from the stack
    std::array<std::uint32_t, 3> sources{};   ///< general registers that the result is computed from
    std::array<std::uint32_t, 2> addressed{}; ///< registers of its memory operand's address
};

/// Turns machine code into instructions, by Capstone. The code may be anything. Not thread-safe.
class Disassembler {
  public:
    explicit Disassembler(Processor processor = kThisProcessor);
    ~Disassembler();
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    /// The instructions from the start of `code` on, at most `most`, up to the first bytes that are none.
    std::vector<Instruction> decode(std::string_view code, std::uint64_t address, std::size_t most) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Marks the instructions of a loop whose addresses were read from memory within it.
void mark_indirect(std::vector<Instruction>& loop);

} // namespace fathom::profile
