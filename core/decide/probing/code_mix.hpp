#pragma once

#include <cstdint>
#include <span>

namespace fathom {

/// What a machine instruction computes. Reading and writing memory is told beside it: x86 does both in one.
enum class CodeKind : std::uint8_t {
    kMove,         ///< nothing: copies between registers, does nothing
    kFloating,     ///< on floating-point numbers
    kSlowFloating, ///< divisions and square roots of these
    kInteger,      ///< on integers, bits and addresses
    kBranch,       ///< goes on at one of two places, or at one known beforehand
    kJump,         ///< goes on where a register or memory says: interpreters, virtual functions
    kString,       ///< rep movs and its kind
    kAtomic,       ///< locked, exclusive
    kCrypto,       ///< AES, SHA, CRC, carry-less products
    kWait,         ///< pause, yield: a thread that spins
};

/// One instruction of a loop.
struct CodeInstruction {
    CodeKind kind{CodeKind::kMove};
    bool is_packed{};   ///< computes on several numbers
    bool is_indirect{}; ///< reads or writes at an address that came from memory
    int flops{};        ///< floating-point operations of one execution
    int loaded_bytes{}; ///< of its memory operands
    int stored_bytes{};
};

/// What a loop is made of. The parts sum to 1, or are all 0 where nothing was seen: each instruction counts once for
/// what it computes and once for each memory operand, so that x86 and Arm compare.
struct CodeMix {
    double floating{};
    double slow_floating{};
    double integer{};
    double load{};          ///< whose address is computed from the loop's own registers
    double indirect_load{}; ///< whose address was loaded before: indices, pointers; gathers
    double store{};
    double branch{};
    double jump{};
    double string{};
    double atomic{};
    double crypto{};
    // Beside the parts.
    double packed{};         ///< of the floating-point instructions: those on several numbers, 0..1
    double waits{};          ///< of all instructions: those that wait, 0..1; a loop that has any spins
    double flops_per_byte{}; ///< floating-point operations for each byte of memory operands; 0: none
};

/// Each instruction of the loop executed once.
CodeMix mix_of(std::span<const CodeInstruction> loop);

} // namespace fathom
