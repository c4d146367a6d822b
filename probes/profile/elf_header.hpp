#pragma once

#include <cstring>
#include <elf.h>

namespace fathom::profile {

#if defined(__x86_64__)
inline constexpr Elf64_Half kOwnMachine = EM_X86_64;
#else
inline constexpr Elf64_Half kOwnMachine = EM_AARCH64;
#endif

inline bool is_elf(const Elf64_Ehdr& header)
{
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
}

/// Of a header for 32 bits, too, class and machine lie where they are here.
inline bool is_for_this_processor(const Elf64_Ehdr& header)
{
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kOwnMachine;
}

} // namespace fathom::profile
