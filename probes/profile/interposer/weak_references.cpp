#include "probes/profile/interposer/weak_references.hpp"

#include "probes/profile/interposer/real_function.hpp"

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <iterator>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::profile {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kAddressTypes[] = {R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64};
#else
constexpr std::uint32_t kAddressTypes[] = {R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_ABS64};
#endif

struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

/// A library as the loader has mapped it; those of the start stay until the process ends.
struct Library {
    std::uintptr_t base;
    const ElfW(Phdr) * segments;
    std::size_t segment_count;
    Range whole;
};

struct Libraries {
    Library list[1024];
    std::size_t count;
};
constinit Libraries g_at_start = {};

Range range_of(const Library& library, const ElfW(Phdr) & segment)
{
    const std::uintptr_t begin = library.base + segment.p_vaddr;
    return {begin, begin + segment.p_memsz};
}

int note_library(dl_phdr_info* info, std::size_t /*size*/, void* data)
{
    Libraries& libraries = *static_cast<Libraries*>(data);
    Library library{info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, {UINTPTR_MAX, 0}};
    for (std::size_t i = 0; i < library.segment_count; ++i) {
        if (library.segments[i].p_type != PT_LOAD) continue;
        const Range range = range_of(library, library.segments[i]);
        if (range.begin < library.whole.begin) library.whole.begin = range.begin;
        if (range.end > library.whole.end) library.whole.end = range.end;
    }
    libraries.list[libraries.count++] = library;
    return libraries.count == std::size(libraries.list) ? 1 : 0;
}

const Library* library_at(std::uintptr_t address)
{
    for (std::size_t i = 0; i < g_at_start.count; ++i) {
        if (g_at_start.list[i].whole.holds(address)) return &g_at_start.list[i];
    }
    return nullptr;
}

/// The segment of a type, at an address where one is given.
const ElfW(Phdr) * find_segment(const Library& library, std::uint32_t type, std::uintptr_t address = 0)
{
    for (std::size_t i = 0; i < library.segment_count; ++i) {
        const ElfW(Phdr)& segment = library.segments[i];
        if (segment.p_type == type && (address == 0 || range_of(library, segment).holds(address))) return &segment;
    }
    return nullptr;
}

/// What a library's dynamic section tells of its relocations.
struct Tables {
    const ElfW(Sym) * symbols;
    const char* names;
    struct {
        const ElfW(Rela) * first;
        std::size_t bytes;
    } relocations[2]; ///< of data, and of calls
};

Tables read_tables(const Library& library)
{
    Tables tables{};
    const ElfW(Phdr)* segment = find_segment(library, PT_DYNAMIC);
    if (segment == nullptr) return tables;
    // The loader has made addresses of offsets, but not in the system's own library (vDSO).
    const auto address = [&](const ElfW(Dyn) & entry) {
        return entry.d_un.d_ptr < library.base ? library.base + entry.d_un.d_ptr : entry.d_un.d_ptr;
    };
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.base + segment->p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address(*entry));
        if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(address(*entry));
        if (entry->d_tag == DT_RELA) tables.relocations[0].first = reinterpret_cast<const ElfW(Rela)*>(address(*entry));
        if (entry->d_tag == DT_RELASZ) tables.relocations[0].bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL)
            tables.relocations[1].first = reinterpret_cast<const ElfW(Rela)*>(address(*entry));
        if (entry->d_tag == DT_PLTRELSZ) tables.relocations[1].bytes = entry->d_un.d_val;
    }
    return tables;
}

/// Whether the loader has made the page of an address read-only after its work: whole pages, rounded down at both ends.
bool is_protected(const Library& library, std::uintptr_t address, std::uintptr_t page_bytes)
{
    for (std::size_t i = 0; i < library.segment_count; ++i) {
        if (library.segments[i].p_type != PT_GNU_RELRO) continue;
        const Range range = range_of(library, library.segments[i]);
        const Range pages{range.begin / page_bytes * page_bytes, range.end / page_bytes * page_bytes};
        if (pages.holds(address)) return true;
    }
    return false;
}

/// Writes a word of a library that the loader has relocated.
void write_word(const Library& library, std::uintptr_t place, std::uint64_t value)
{
    const ElfW(Phdr)* segment = find_segment(library, PT_LOAD, place);
    if (segment == nullptr || (segment->p_flags & PF_W) == 0) return;
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const bool must_open = is_protected(library, place, page_bytes);
    void* page = reinterpret_cast<void*>(place / page_bytes * page_bytes);
    if (must_open && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
    *reinterpret_cast<std::uint64_t*>(place) = value;
    if (must_open) mprotect(page, page_bytes, PROT_READ);
}

bool holds_address(const ElfW(Rela) & relocation)
{
    for (const std::uint32_t type : kAddressTypes) {
        if (ELF64_R_TYPE(relocation.r_info) == type) return true;
    }
    return false;
}

void clear_in(const Library& library, const Range& ours)
{
    const Tables tables = read_tables(library);
    if (tables.symbols == nullptr || tables.names == nullptr) return;
    for (const auto& table : tables.relocations) {
        for (std::size_t i = 0; table.first != nullptr && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
            const ElfW(Rela)& relocation = table.first[i];
            if (!holds_address(relocation)) continue;
            const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
            if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF) continue;
            const std::uintptr_t place = library.base + relocation.r_offset;
            const auto addend = static_cast<std::uint64_t>(relocation.r_addend);
            if (!ours.holds(*reinterpret_cast<const std::uint64_t*>(place) - addend)) continue;
            if (look_up(RTLD_NEXT, tables.names + symbol.st_name) == nullptr) write_word(library, place, addend);
        }
    }
}

} // namespace

void clear_weak_references()
{
    // In two steps: inside of dl_iterate_phdr() the loader may not be asked for anything.
    dl_iterate_phdr(note_library, &g_at_start);
    const Library* own = library_at(reinterpret_cast<std::uintptr_t>(&g_at_start));
    if (own == nullptr) return;
    for (std::size_t i = 0; i < g_at_start.count; ++i) {
        if (&g_at_start.list[i] != own) clear_in(g_at_start.list[i], own->whole);
    }
    dlerror(); // our failures are not the program's
}

bool was_loaded_at_start(const void* address)
{
    return library_at(reinterpret_cast<std::uintptr_t>(address)) != nullptr;
}

} // namespace fathom::profile
