#include "server/app/backup/moved_database.hpp"

#include "core/base/file.hpp"

namespace fathom::server {

std::filesystem::path moved_note(const std::filesystem::path& state_dir)
{
    return state_dir / "database-moved";
}

Result<void> refuse_moved_database(const std::filesystem::path& state_dir)
{
    const std::filesystem::path note = moved_note(state_dir);
    Result<std::string> target = read_file(note, 4096);
    if (!target && target.error().code == Errc::kNotFound) return {};
    if (!target) return target.error();
    while (target->ends_with('\n'))
        target->pop_back();
    return Error{Errc::kConflict, "the embedded database of " + state_dir.string() + " was moved to " + *target +
                                      ": set `database` to that. To use what is here as it was before the move, "
                                      "remove " +
                                      note.string()};
}

Result<void> note_moved_database(const std::filesystem::path& state_dir, const std::string& target)
{
    return write_file(moved_note(state_dir), target + "\n", 0600);
}

} // namespace fathom::server
