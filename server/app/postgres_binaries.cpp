#include "server/app/postgres_binaries.hpp"

#include "server/app/child_process.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unistd.h>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> path_folders()
{
    std::vector<fs::path> folders;
    const char* const variable = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): nobody calls setenv
    std::string_view rest = variable == nullptr ? "" : variable;
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        if (const std::string_view folder = rest.substr(0, colon); folder.starts_with('/'))
            folders.emplace_back(folder);
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
    return folders;
}

/// The number after `text`'s last word, "postgres (PostgreSQL) 15.18 (Debian …)" -> 15.
std::optional<int> parse_major(std::string_view text)
{
    const std::size_t mark = text.find("(PostgreSQL) ");
    if (mark == std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(mark + 13);
    int major = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), major);
    return error == std::errc{} ? std::optional(major) : std::nullopt;
}

std::optional<PostgresBinaries> inspect(const fs::path& folder)
{
    if (!is_program(folder / "initdb") || !is_program(folder / "postgres")) return std::nullopt;
    // Links such as /usr/local/bin/postgres: PostgreSQL finds its share folder from the real place.
    std::error_code error;
    const fs::path real = fs::canonical(folder / "postgres", error);
    if (error || !is_program(real.parent_path() / "initdb")) return std::nullopt;
    ChildOptions ask;
    ask.arguments = {real.string(), "--version"};
    const Result<std::string> answer = run_child(std::move(ask));
    if (!answer) return std::nullopt;
    const std::optional<int> major = parse_major(*answer);
    if (!major) return std::nullopt;
    return PostgresBinaries{real.parent_path(), *major};
}

Error nothing_found(const std::vector<fs::path>& folders, std::optional<int> wanted_major,
                    const std::vector<PostgresBinaries>& found)
{
    const std::string package = wanted_major ? "postgresql-" + std::to_string(*wanted_major) : "postgresql";
    std::string text;
    if (wanted_major && !found.empty())
        text = "the embedded database was made by PostgreSQL " + std::to_string(*wanted_major) + ", but only version " +
               std::to_string(found.front().major_version) + " is installed";
    else
        text = "PostgreSQL's server programs (initdb, postgres) are not installed";
    text += "; install them with: sudo apt-get install " + package;
    text += " (or give a server of yours: --database postgresql://…)";
    if (found.empty()) {
        text += "; looked in";
        for (const fs::path& folder : folders)
            text += " " + folder.string();
    }
    return {Errc::kUnavailable, text};
}

} // namespace

std::vector<fs::path> postgres_search_folders()
{
    std::vector<fs::path> folders = path_folders();
    std::error_code error;
    for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error))
        folders.push_back(version.path() / "bin");
    for (const fs::path& folder : path_folders()) {
        if (!is_program(folder / "pg_config")) continue;
        ChildOptions ask;
        ask.arguments = {(folder / "pg_config").string(), "--bindir"};
        if (Result<std::string> answer = run_child(std::move(ask))) {
            while (answer->ends_with('\n'))
                answer->pop_back();
            folders.emplace_back(*answer);
        }
        break;
    }
    // Each once: PATH often names a folder twice, and each costs a run of `postgres --version`.
    std::vector<fs::path> distinct;
    for (const fs::path& folder : folders)
        if (std::find(distinct.begin(), distinct.end(), folder) == distinct.end()) distinct.push_back(folder);
    return distinct;
}

Result<PostgresBinaries> find_postgres(const std::vector<fs::path>& folders, std::optional<int> wanted_major)
{
    std::vector<PostgresBinaries> found;
    for (const fs::path& folder : folders)
        if (std::optional<PostgresBinaries> one = inspect(folder)) found.push_back(std::move(*one));
    const PostgresBinaries* best = nullptr;
    for (const PostgresBinaries& one : found) {
        if (wanted_major && one.major_version != *wanted_major) continue;
        if (best == nullptr || one.major_version > best->major_version) best = &one;
    }
    if (best != nullptr) return *best;
    return nothing_found(folders, wanted_major, found);
}

} // namespace fathom::server
