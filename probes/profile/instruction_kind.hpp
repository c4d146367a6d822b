#pragma once

#include "core/decide/probing/code_mix.hpp"

#include <string_view>

/// What instructions do, by their names as Capstone writes them. A name that nobody knows is one on integers.
namespace fathom::profile {

/// What becomes of the first operand.
enum class X86Writing {
    kNothing, ///< it is read, as the others: cmp, push, call
    kWrites,  ///< it is written: mov
    kChanges, ///< it is read, then written: add
};

CodeKind x86_kind(std::string_view name);
X86Writing x86_writing(std::string_view name);
/// Computes with the address alone: lea, prefetches.
bool x86_ignores_memory(std::string_view name);
bool x86_is_packed(std::string_view name);
/// Floating-point operations, for a first operand of so many bytes.
int x86_flops(std::string_view name, int bytes);

CodeKind arm64_kind(std::string_view name);
/// Has no result: comparisons, branches.
bool arm64_only_reads(std::string_view name);
bool arm64_is_conditional(std::string_view name);
/// Bytes that a load or store moves whose registers have so many together.
int arm64_moved_bytes(std::string_view name, int registers_bytes);
/// Floating-point operations, for so many numbers in a register.
int arm64_flops(std::string_view name, int lanes);

} // namespace fathom::profile
