#include "server/app/postgres_binaries.hpp"

#include "core/base/parse_number.hpp"
#include "server/app/child_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
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
    text.remove_prefix(mark + 13);
    return take_number<int>(text);
}

/// What stands in the folder; `main` is asked for its version.
std::optional<PostgresBinaries> inspect(const fs::path& folder, const char* main,
                                        std::initializer_list<const char*> others)
{
    const auto has_others = [&](const fs::path& place) {
        return std::all_of(others.begin(), others.end(), [&](const char* name) { return is_program(place / name); });
    };
    if (!is_program(folder / main) || !has_others(folder)) return std::nullopt;
    // Links such as /usr/local/bin/postgres: PostgreSQL finds its share folder from the real place. Debian's
    // /usr/bin/pg_dump is a link to a script that stands alone.
    std::error_code error;
    const fs::path real = fs::canonical(folder / main, error);
    if (error || !has_others(real.parent_path())) return std::nullopt;
    ChildOptions ask;
    ask.arguments = {real.string(), "--version"};
    const Result<std::string> answer = run_child(std::move(ask), kAnswerLimit);
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

/// That of the wanted version; where any will do, the newest.
const PostgresBinaries* newest(const std::vector<PostgresBinaries>& found, std::optional<int> wanted_major)
{
    const PostgresBinaries* best = nullptr;
    for (const PostgresBinaries& one : found) {
        if (wanted_major && one.major_version != *wanted_major) continue;
        if (best == nullptr || one.major_version > best->major_version) best = &one;
    }
    return best;
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
        if (Result<std::string> answer = run_child(std::move(ask), kAnswerLimit)) {
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
        if (std::optional<PostgresBinaries> one = inspect(folder, "postgres", {"initdb"}))
            found.push_back(std::move(*one));
    if (const PostgresBinaries* const best = newest(found, wanted_major)) return *best;
    return nothing_found(folders, wanted_major, found);
}

Result<PostgresBinaries> find_postgres_tools(const std::vector<fs::path>& folders, std::optional<int> wanted_major)
{
    std::vector<PostgresBinaries> found;
    for (const fs::path& folder : folders)
        if (std::optional<PostgresBinaries> one = inspect(folder, "pg_dump", {"pg_restore", "psql"}))
            found.push_back(std::move(*one));
    if (const PostgresBinaries* const wanted = newest(found, wanted_major)) return *wanted;
    if (const PostgresBinaries* const any = newest(found, std::nullopt)) return *any;
    const std::string package =
        wanted_major ? "postgresql-client-" + std::to_string(*wanted_major) : std::string("postgresql-client");
    return Error{Errc::kUnavailable,
                 "PostgreSQL's programs pg_dump, pg_restore and psql are not installed; install them "
                 "with: sudo apt-get install " +
                     package};
}

} // namespace fathom::server
