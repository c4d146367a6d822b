#include "core/base/open_inside.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/write_all.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom {
namespace {

Error not_opened(const std::filesystem::path& name, int code)
{
    const Errc kind = code == ENOENT ? Errc::kNotFound : Errc::kUnavailable;
    if (code == ELOOP || code == ENOTDIR)
        return {kind, name.string() + " is a link, or no folder: it is not followed; put it right and start again"};
    return {kind, "cannot open " + name.string() + ": " + error_text(code)};
}

Error not_theirs(const std::filesystem::path& name, uid_t owner)
{
    return {Errc::kUnavailable, name.string() + " is not what it should be: a plain file or folder of user id " +
                                    std::to_string(owner) + ", under one name; put it right and start again"};
}

/// Of a plain file with one name only: a second one could be anybody's file.
bool is_plain_file_of(int file, uid_t owner)
{
    struct stat facts{};
    return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == owner && facts.st_nlink == 1;
}

bool is_readable_file_of(int file, uid_t owner)
{
    return is_plain_file_of(file, owner) || is_plain_file_of(file, geteuid());
}

} // namespace

Result<OpenFile> open_folder(int parent, const std::filesystem::path& name, uid_t owner)
{
    OpenFile folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.number() < 0) return not_opened(name, errno);
    struct stat facts{};
    const bool is_known = fstat(folder.number(), &facts) == 0 && (facts.st_uid == owner || facts.st_uid == geteuid());
    if (!is_known) return not_theirs(name, owner);
    return folder;
}

Result<OpenFile> make_folder(int parent, const std::filesystem::path& name, uid_t owner, gid_t group)
{
    if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
        return Error{Errc::kUnavailable, "cannot make the folder " + name.string() + ": " + error_text(errno)};
    Result<OpenFile> folder = open_folder(parent, name, owner);
    if (!folder) return folder;
    // Of ours when it was made a moment ago, or by a start that did not end: nobody else can move a folder of ours
    // here.
    struct stat facts{};
    const bool is_given = fstat(folder->number(), &facts) == 0 && facts.st_uid == owner;
    if (!is_given && fchown(folder->number(), owner, group) != 0)
        return Error{Errc::kUnavailable, "cannot give away " + name.string() + ": " + error_text(errno)};
    if (fchmod(folder->number(), 0700) != 0)
        return Error{Errc::kUnavailable, "cannot set the mode of " + name.string() + ": " + error_text(errno)};
    return folder;
}

Result<std::string> read_end(int folder, const std::string& name, uid_t owner, std::size_t most_bytes)
{
    const OpenFile file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file.number() < 0) return not_opened(name, errno);
    if (!is_readable_file_of(file.number(), owner)) return not_theirs(name, owner);
    struct stat facts{};
    if (fstat(file.number(), &facts) != 0) return not_opened(name, errno);
    const auto most = static_cast<off_t>(most_bytes);
    std::string text(most_bytes, '\0');
    const ssize_t size = pread(file.number(), text.data(), text.size(), std::max<off_t>(facts.st_size - most, 0));
    if (size < 0) return not_opened(name, errno);
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Result<OpenFile> open_log(int folder, const std::string& name, uid_t owner, gid_t group)
{
    constexpr int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    OpenFile fresh(openat(folder, name.c_str(), flags | O_CREAT | O_EXCL, 0600));
    if (fresh.number() >= 0) {
        if (owner != geteuid() && fchown(fresh.number(), owner, group) != 0) return not_theirs(name, owner);
        return fresh;
    }
    OpenFile file(openat(folder, name.c_str(), flags));
    if (file.number() < 0) return not_opened(name, errno);
    if (!is_plain_file_of(file.number(), owner)) return not_theirs(name, owner);
    return file;
}

Result<void> replace_file(int folder, const std::string& name, std::string_view content, uid_t owner, gid_t group)
{
    const auto failed = [&] { return Error{Errc::kUnavailable, "cannot write " + name + ": " + error_text(errno)}; };
    if (unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) return failed();
    const OpenFile file(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.number() < 0) return failed();
    if (owner != geteuid() && fchown(file.number(), owner, group) != 0) return failed();
    if (!write_all(file.number(), content)) return failed();
    return {};
}

std::optional<std::uintmax_t> size_of(int folder, const std::string& name)
{
    struct stat facts{};
    if (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    return static_cast<std::uintmax_t>(facts.st_size);
}

} // namespace fathom
