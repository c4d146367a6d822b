#include "probes/profile/defined_symbols.hpp"

#include <cstring>
#include <elf.h>
#include <string_view>

namespace fathom::profile {
namespace {

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{32} << 20U;

template <class T>
bool read_at(const ReadCode& read, std::uint64_t offset, T& value)
{
    const std::string bytes = read(offset, sizeof(value));
    if (bytes.size() != sizeof(value)) return false;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return true;
}

std::string table_of(const ReadCode& read, const Elf64_Shdr& section)
{
    if (section.sh_type == SHT_NOBITS || section.sh_size > kMaxTableBytes) return {};
    return read(section.sh_offset, static_cast<std::size_t>(section.sh_size));
}

bool any_defined(std::string_view symbols, std::string_view texts, const std::set<std::string, std::less<>>& names)
{
    for (; symbols.size() >= sizeof(Elf64_Sym); symbols.remove_prefix(sizeof(Elf64_Sym))) {
        Elf64_Sym symbol{};
        std::memcpy(&symbol, symbols.data(), sizeof(symbol));
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.size()) continue;
        const std::string_view text = texts.substr(symbol.st_name);
        if (names.contains(text.substr(0, text.find('\0')))) return true;
    }
    return false;
}

} // namespace

bool defines_any(const ReadCode& read, const std::set<std::string, std::less<>>& names)
{
    Elf64_Ehdr header{};
    if (names.empty() || !read_at(read, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        Elf64_Shdr texts{};
        if (!read_at(read, header.e_shoff + i * sizeof(section), section)) return false;
        if (section.sh_type != SHT_DYNSYM || section.sh_link >= header.e_shnum) continue;
        if (!read_at(read, header.e_shoff + section.sh_link * sizeof(texts), texts)) return false;
        return any_defined(table_of(read, section), table_of(read, texts), names);
    }
    return false;
}

} // namespace fathom::profile
