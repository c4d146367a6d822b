#include "agent/executor/local/home_view.hpp"

#include <array>
#include <system_error>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

/// Each costs a mount for each job: those beyond are not shown.
constexpr std::size_t kMaxShown = 500;

/// Where package managers put programs and what they load. No folder that holds a token, a password or a key as well,
/// such as all of .cargo or .local/share.
constexpr std::array kProgramFolders{".cargo/bin",
                                     ".conda/envs",
                                     ".conda/pkgs",
                                     ".juliaup/bin",
                                     ".julia/juliaup",
                                     ".local/bin",
                                     ".local/lib",
                                     ".local/opt",
                                     ".local/share/mamba",
                                     ".local/share/pipx/venvs",
                                     ".local/share/uv/python",
                                     ".local/share/uv/tools",
                                     ".micromamba",
                                     ".nvm/versions",
                                     ".pixi/bin",
                                     ".pixi/envs",
                                     ".pyenv/versions",
                                     ".rustup/toolchains",
                                     ".venv",
                                     ".virtualenvs"};

bool may_be_executed(const fs::directory_entry& entry)
{
    std::error_code error;
    constexpr fs::perms kAnybody = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    return entry.is_regular_file(error) && (entry.status(error).permissions() & kAnybody) != fs::perms::none;
}

} // namespace

HomeView view_home(const fs::path& home)
{
    HomeView view;
    std::error_code error;
    for (const char* folder : kProgramFolders) {
        if (fs::is_directory(home / folder, error)) view.folders.emplace_back(folder);
    }
    const auto shown = [&] { return view.folders.size() + view.programs.size() + view.links.size(); };
    for (fs::directory_iterator entry(home, error), end; !error && entry != end && shown() < kMaxShown;
         entry.increment(error)) {
        const fs::path name = entry->path().filename();
        if (name.native().starts_with('.')) continue;
        std::error_code unknown; // of an entry that has gone meanwhile
        if (entry->is_symlink(unknown))
            view.links.push_back(name);
        else if (entry->is_directory(unknown))
            view.folders.push_back(name);
        else if (may_be_executed(*entry))
            view.programs.push_back(name);
    }
    return view;
}

} // namespace fathom::agent
