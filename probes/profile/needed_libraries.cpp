#include "probes/profile/needed_libraries.hpp"

#include "probes/profile/elf_header.hpp"

#include <algorithm>
#include <cstdint>
#include <elf.h>
#include <fstream>
#include <limits>

namespace fathom::profile {
namespace {

constexpr std::uint64_t kMaxTableEntries = 4096; // of any table here: more is a damaged file

/// A file that is read by address. Everything in it may be wrong.
class ElfFile {
  public:
    explicit ElfFile(const std::string& path) : file_(path, std::ios::binary)
    {
        Elf64_Ehdr header{};
        if (!read(0, header) || !is_elf(header) || header.e_ident[EI_CLASS] != ELFCLASS64) return;
        for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
            Elf64_Phdr segment{};
            if (read(header.e_phoff + i * sizeof(segment), segment)) segments_.push_back(segment);
        }
    }

    std::vector<Elf64_Dyn> dynamic()
    {
        std::vector<Elf64_Dyn> entries;
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_DYNAMIC) continue;
            Elf64_Dyn entry{};
            for (std::uint64_t i = 0; i < std::min(segment.p_filesz / sizeof(entry), kMaxTableEntries); ++i) {
                if (!read(segment.p_offset + i * sizeof(entry), entry) || entry.d_tag == DT_NULL) break;
                entries.push_back(entry);
            }
        }
        return entries;
    }

    /// The text at a loaded address, as far as a library's name may be long.
    std::string text_at(std::uint64_t address)
    {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
                continue;
            std::string text(256, '\0');
            if (!seek(segment.p_offset + (address - segment.p_vaddr))) return "";
            file_.read(text.data(), static_cast<std::streamsize>(text.size()));
            return text.c_str();
        }
        return "";
    }

  private:
    bool seek(std::uint64_t offset)
    {
        file_.clear();
        return offset <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} &&
               file_.seekg(static_cast<std::streamoff>(offset)).good();
    }
    template <class T>
    bool read(std::uint64_t offset, T& value)
    {
        return seek(offset) && file_.read(reinterpret_cast<char*>(&value), sizeof(value)).good();
    }

    std::ifstream file_;
    std::vector<Elf64_Phdr> segments_;
};

} // namespace

std::vector<std::string> needed_libraries(const std::string& path)
{
    ElfFile file(path);
    const std::vector<Elf64_Dyn> dynamic = file.dynamic();
    const auto names =
        std::find_if(dynamic.begin(), dynamic.end(), [](const Elf64_Dyn& e) { return e.d_tag == DT_STRTAB; });
    std::vector<std::string> libraries;
    if (names == dynamic.end()) return libraries;
    for (const Elf64_Dyn& entry : dynamic) {
        if (entry.d_tag == DT_NEEDED) libraries.push_back(file.text_at(names->d_un.d_ptr + entry.d_un.d_val));
    }
    return libraries;
}

} // namespace fathom::profile
