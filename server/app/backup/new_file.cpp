#include "server/app/backup/new_file.hpp"

#include "core/base/error_text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fathom::server {
namespace {

/// Whether the name can be given; the answer may be another one later.
Result<void> check_name(const std::filesystem::path& path, bool replaces)
{
    struct stat facts{};
    if (lstat(path.c_str(), &facts) != 0) return {}; // whatever is wrong, making the file tells
    if (!S_ISREG(facts.st_mode))
        return Error{Errc::kConflict, path.string() + " is there and no plain file; name another"};
    if (replaces) return {};
    return Error{Errc::kConflict, path.string() + " exists; name another file, or replace it with --force"};
}

} // namespace

NewFile::NewFile(std::filesystem::path path, bool replaces)
    : path_(std::move(path)), temporary_(path_.string() + ".new-" + std::to_string(getpid())), replaces_(replaces),
      file_(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR))
{
}

Result<NewFile> NewFile::make(const std::filesystem::path& path, bool replaces)
{
    if (Result<void> free = check_name(path, replaces); !free) return free.error();
    NewFile file(path, replaces);
    if (file.number() >= 0) return file;
    const Error error = file.failed("make");
    file.temporary_.clear(); // what stands there is not ours
    return error;
}

NewFile::~NewFile()
{
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})), replaces_(other.replaces_),
      file_(std::move(other.file_))
{
}

std::uintmax_t NewFile::size() const
{
    struct stat facts{};
    return fstat(file_.number(), &facts) == 0 ? static_cast<std::uintmax_t>(facts.st_size) : 0;
}

Result<void> NewFile::commit()
{
    if (fsync(file_.number()) != 0) return failed("flush");
    const auto renamed = [&](unsigned flags) {
        return renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags) == 0;
    };
    bool is_done = renamed(replaces_ ? 0 : RENAME_NOREPLACE);
    if (!is_done && errno == EEXIST) return check_name(path_, replaces_);
    if (!is_done && errno == EINVAL) { // a file system that has no such renaming
        if (Result<void> free = check_name(path_, replaces_); !free) return free;
        is_done = renamed(0);
    }
    if (!is_done) return failed("rename");
    temporary_.clear();
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    const OpenFile opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.number() >= 0 && fsync(opened.number()) != 0 && errno != EINVAL)
        return Error{Errc::kUnavailable, "cannot flush the folder of " + path_.string() + ": " + error_text(errno)};
    return {};
}

Error NewFile::failed(const char* step) const
{
    return {Errc::kUnavailable, std::string("cannot ") + step + " " + temporary_.string() + ": " + error_text(errno)};
}

} // namespace fathom::server
