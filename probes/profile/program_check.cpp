#include "probes/profile/program_check.hpp"

#include "probes/profile/elf_header.hpp"
#include "probes/profile/needed_libraries.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace fathom::profile {
namespace {

Error refused(const std::string& path, const std::string& why)
{
    return {Errc::kForbidden, path + ": " + why};
}

/// @error kForbidden, kNotFound  as check_program.
Result<void> check_file(const std::string& path)
{
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return Error{Errc::kNotFound, path + ": no such file; check the spelling, or give the whole path"};
        return refused(path, std::strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    if (S_ISDIR(facts.st_mode)) return refused(path, "this is a folder, not a program");
    if (!S_ISREG(facts.st_mode)) return refused(path, "this is not a program");
    if (::access(path.c_str(), X_OK) != 0)
        return refused(path, "not executable for this user; `chmod +x` it, or start it through its interpreter");
    return {};
}

/// In PATH's order; an empty entry is the working folder.
std::vector<std::string> folders_of_path()
{
    const char* value = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
    std::string_view rest = value != nullptr ? value : "/usr/local/bin:/usr/bin:/bin";
    std::vector<std::string> folders;
    while (true) {
        const std::size_t colon = rest.find(':');
        const std::string_view folder = rest.substr(0, colon);
        folders.emplace_back(folder.empty() ? "." : folder);
        if (colon == std::string_view::npos) return folders;
        rest.remove_prefix(colon + 1);
    }
}

/// As shells do it: the first file of that name that this user may execute; folders are no programs, and a folder of
/// PATH that this user may not enter keeps nothing from being found further on.
Result<std::string> find_in_path(const std::string& name)
{
    std::optional<Error> not_executable;
    std::string closed_folders;
    for (const std::string& folder : folders_of_path()) {
        std::string path = folder + "/" + name;
        struct stat facts = {};
        if (::stat(path.c_str(), &facts) == 0) {
            const Result<void> checked = check_file(path);
            if (checked) return path;
            if (!S_ISDIR(facts.st_mode) && !not_executable) not_executable = checked.error();
        } else if (errno == EACCES) {
            closed_folders += (closed_folders.empty() ? "" : ", ") + folder;
        }
    }
    if (not_executable) return *not_executable;
    std::string text = name + ": not found in PATH; check the spelling, or give the path of the program";
    if (!closed_folders.empty()) text += " (this user may not enter " + closed_folders + ")";
    return Error{Errc::kNotFound, text};
}

std::string read_start(const std::string& path, std::size_t bytes)
{
    std::ifstream file(path, std::ios::binary);
    std::string text(bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// Whether the kernel starts it with more rights than ours: then the loader ignores what is to be preloaded.
std::string why_privileged(const std::string& path)
{
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) return "";
    const bool changes_user = (facts.st_mode & S_ISUID) != 0 && facts.st_uid != ::geteuid();
    const bool changes_group = (facts.st_mode & S_ISGID) != 0 && facts.st_gid != ::getegid();
    if (changes_user || changes_group)
        return "it is set-user-id or set-group-id, and the system lets nothing be loaded into such programs";
    std::array<char, 64> capabilities{};
    if (::getxattr(path.c_str(), "security.capability", capabilities.data(), capabilities.size()) > 0)
        return "it has file capabilities, and the system lets nothing be loaded into such programs";
    return "";
}

std::string why_not_loadable(const std::string& path, const std::string& start)
{
    Elf64_Ehdr header{};
    if (start.size() < sizeof(header)) return "it is not a program in the system's own format";
    std::memcpy(&header, start.data(), sizeof(header));
    if (!is_for_this_processor(header)) return "it is made for another processor architecture than this profiler";
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(header.e_phoff));
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        file.read(reinterpret_cast<char*>(&segment), sizeof(segment));
        if (file && segment.p_type == PT_INTERP) return "";
    }
    return "it is statically linked, so nothing can be loaded into it; link it dynamically to have its operators "
           "counted";
}

/// Whether AddressSanitizer's shared runtime comes with it. A runtime that is linked statically does not mind.
bool refuses_preload(const std::string& path)
{
    const std::vector<std::string> libraries = needed_libraries(path);
    return std::any_of(libraries.begin(), libraries.end(), [](const std::string& name) {
        return name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
    });
}

/// The interpreter of a script (`#! path`), empty for other files.
std::string interpreter_of(const std::string& start)
{
    if (!start.starts_with("#!")) return "";
    const std::string_view line = std::string_view(start).substr(2, start.find('\n') - 2);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return "";
    const std::size_t last = line.find_first_of(" \t\r", first);
    return std::string(line.substr(first, last == std::string_view::npos ? last : last - first));
}

} // namespace

Result<ProgramFacts> check_program(const std::string& name)
{
    ProgramFacts facts;
    if (name.find('/') == std::string::npos) {
        const Result<std::string> found = find_in_path(name);
        if (!found) return found.error();
        facts.path = *found;
    } else {
        if (const Result<void> checked = check_file(name); !checked) return checked.error();
        facts.path = name;
    }
    std::string loaded = facts.path;
    std::string start = read_start(loaded, 4096);
    if (const std::string interpreter = interpreter_of(start); !interpreter.empty()) {
        if (const Result<void> checked = check_file(interpreter); !checked)
            return Error{Errc::kForbidden, facts.path + ": its interpreter is missing: " + checked.error().detail};
        loaded = interpreter;
        start = read_start(loaded, 4096);
    }
    if (start.empty()) return facts;              // executable but not readable: the kernel will tell
    if (!start.starts_with(ELFMAG)) return facts; // a script without `#!`: a shell runs it
    facts.not_counted = why_privileged(loaded);
    if (facts.not_counted.empty()) facts.not_counted = why_not_loadable(loaded, start);
    if (facts.not_counted.empty() && refuses_preload(loaded)) {
        facts.must_not_be_loaded = true;
        facts.not_counted = "it is built with AddressSanitizer, which starts no program that something else is loaded "
                            "into; build it without to have its operators counted";
    }
    return facts;
}

} // namespace fathom::profile
