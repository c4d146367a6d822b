#include "probes/profile/defined_symbols.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <elf.h>

namespace fathom::profile {
namespace {

template <class T>
std::string memory_of(const T& value)
{
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

ReadCode file_reader(const std::string& file)
{
    return [&file](std::uint64_t offset, std::size_t bytes) {
        return offset < file.size() ? file.substr(static_cast<std::size_t>(offset), bytes) : std::string();
    };
}

Elf64_Ehdr elf_header(std::uint64_t sections, std::uint16_t count)
{
    Elf64_Ehdr header{};
    header.e_ident[EI_MAG0] = ELFMAG0;
    header.e_ident[EI_MAG1] = ELFMAG1;
    header.e_ident[EI_MAG2] = ELFMAG2;
    header.e_ident[EI_MAG3] = ELFMAG3;
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = kThisProcessor == Processor::kX86_64 ? EM_X86_64 : EM_AARCH64;
    header.e_shoff = sections;
    header.e_shnum = count;
    return header;
}

/// A library whose only symbols, so many, have one text.
std::string elf_library(const std::string& text, std::size_t symbols)
{
    Elf64_Sym symbol{};
    symbol.st_shndx = 1;
    Elf64_Shdr table{};
    table.sh_type = SHT_DYNSYM;
    table.sh_link = 1;
    table.sh_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr);
    table.sh_size = symbols * sizeof(symbol);
    Elf64_Shdr texts{};
    texts.sh_type = SHT_STRTAB;
    texts.sh_offset = table.sh_offset + table.sh_size;
    texts.sh_size = text.size();
    std::string file = memory_of(elf_header(sizeof(Elf64_Ehdr), 2)) + memory_of(table) + memory_of(texts);
    for (std::size_t i = 0; i < symbols; ++i)
        file += memory_of(symbol);
    return file + text;
}

TEST(DefinesAny, FindsWhatALibraryOffers)
{
    const std::string library = elf_library(std::string("dgemm_\0", 7), 1);

    EXPECT_TRUE(defines_any(file_reader(library), {"daxpy_", "dgemm_"}));
    EXPECT_FALSE(defines_any(file_reader(library), {"dgemm", "dgemm_x"}));
    EXPECT_FALSE(defines_any(file_reader(library), {}));
}

TEST(DefinesAny, FindsNothingInWhatIsCutOff)
{
    const std::string library = elf_library(std::string("dgemm_\0", 7), 1);

    for (std::size_t size = 0; size < library.size() - 7; ++size) {
        const std::string part = library.substr(0, size);
        EXPECT_FALSE(defines_any(file_reader(part), {"dgemm_"})) << size;
    }
    EXPECT_FALSE(defines_any(file_reader("not a library"), {"dgemm_"}));
}

TEST(DefinesAny, DoesNotSearchTextsWithoutAnEndForEachSymbol)
{
    const std::string library = elf_library(std::string(8UL << 20U, 'x'), 100'000);
    const auto begin = std::chrono::steady_clock::now();

    EXPECT_FALSE(defines_any(file_reader(library), {"dgemm_"}));

    // Otherwise 800 GB would be gone through.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(IsOfAnotherProcessor, TellsByTheHeader)
{
    Elf64_Ehdr header = elf_header(0, 0);
    const auto is_another = [&] {
        const std::string file = memory_of(header);
        return is_of_another_processor(file_reader(file));
    };
    EXPECT_FALSE(is_another());
    header.e_machine = EM_RISCV;
    EXPECT_TRUE(is_another());
    header = elf_header(0, 0);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    EXPECT_TRUE(is_another());
    EXPECT_FALSE(is_of_another_processor(file_reader("#!/bin/sh\n")));
}

} // namespace
} // namespace fathom::profile
