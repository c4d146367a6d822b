#include "probes/operators/launcher_words.hpp"

#include "core/base/split_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace fathom::probes {
namespace {

bool is_program(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::string environment_text(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string find_in_path(const std::string& name)
{
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const std::string folders = environment_text("PATH");
    for (const std::string_view folder : split_text(folders, ':')) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (!folder.empty() && is_program(path)) return path.string();
    }
    return "";
}

std::string find_beside(std::string_view name)
{
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
    return is_program(path) ? path.string() : "";
}

std::vector<std::string> launcher_words(const char* variable, std::vector<std::string> usual)
{
    std::vector<std::string> words;
    const std::string wanted = environment_text(variable);
    for (const std::string_view word : split_text(wanted, ' ')) {
        if (!word.empty()) words.emplace_back(word);
    }
    if (words.empty()) words = std::move(usual);
    if (words.empty()) return words;
    words.front() = find_in_path(words.front());
    return words.front().empty() ? std::vector<std::string>() : words;
}

} // namespace fathom::probes
