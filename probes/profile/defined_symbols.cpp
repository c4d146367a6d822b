#include "probes/profile/defined_symbols.hpp"

#include "probes/profile/elf_header.hpp"

#include <algorithm>
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

/// @param sections  the file's table of them, which has so many
Elf64_Shdr section_at(std::string_view sections, std::size_t index)
{
    Elf64_Shdr section{};
    std::memcpy(&section, sections.data() + index * sizeof(section), sizeof(section));
    return section;
}

std::string table_of(const ReadCode& read, const Elf64_Shdr& section)
{
    if (section.sh_type == SHT_NOBITS || section.sh_size > kMaxTableBytes) return {};
    return read(section.sh_offset, static_cast<std::size_t>(section.sh_size));
}

bool any_defined(std::string_view symbols, std::string_view texts, const std::set<std::string, std::less<>>& names)
{
    // Texts of files that nobody made with a linker may have no end.
    std::size_t longest = 0;
    for (const std::string& name : names)
        longest = std::max(longest, name.size());
    for (; symbols.size() >= sizeof(Elf64_Sym); symbols.remove_prefix(sizeof(Elf64_Sym))) {
        Elf64_Sym symbol{};
        std::memcpy(&symbol, symbols.data(), sizeof(symbol));
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.size()) continue;
        const std::string_view text = texts.substr(symbol.st_name, longest + 1);
        if (names.contains(text.substr(0, text.find('\0')))) return true;
    }
    return false;
}

} // namespace

bool is_of_another_processor(const ReadCode& read)
{
    Elf64_Ehdr header{};
    return read_at(read, 0, header) && is_elf(header) && !is_for_this_processor(header);
}

bool defines_any(const ReadCode& read, const std::set<std::string, std::less<>>& names)
{
    Elf64_Ehdr header{};
    if (names.empty() || !read_at(read, 0, header) || !is_elf(header) || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const std::string sections = read(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    for (std::size_t i = 0; i < sections.size() / sizeof(Elf64_Shdr); ++i) {
        const Elf64_Shdr section = section_at(sections, i);
        if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size() / sizeof(Elf64_Shdr)) continue;
        return any_defined(table_of(read, section), table_of(read, section_at(sections, section.sh_link)), names);
    }
    return false;
}

} // namespace fathom::profile
