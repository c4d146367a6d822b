#include "agent/stage/replaced_file.hpp"

#include "agent/stage/allowed_folders.hpp"
#include "core/base/error_text.hpp"
#include "core/base/write_all.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fathom::agent {
namespace {

// Jobs' umask hides what they write; what they store for others is for others.
constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

OpenFile open_subfolder(int parent, const std::string& name)
{
    return OpenFile(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Error not_made(const std::filesystem::path& path, int code)
{
    return {Errc::kUnavailable, path.string() + ": " + error_text(code)};
}

Error not_allowed()
{
    return {Errc::kInvalid, "it is below none of the folders that this center takes outputs into (output_folders)"};
}

Result<OpenFile> make_subfolder(int parent, const std::string& name, const std::filesystem::path& path)
{
    const bool is_made = ::mkdirat(parent, name.c_str(), kFolderMode) == 0;
    if (!is_made && errno != EEXIST) return not_made(path, errno);
    OpenFile folder = open_subfolder(parent, name);
    if (folder.number() < 0) return not_made(path, errno);
    if (is_made) ::fchmod(folder.number(), kFolderMode);
    return folder;
}

/// A folder, made where it is not there. It may be none of those allowed: links are followed.
Result<OpenFile> make_folders(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& allowed)
{
    OpenFile at(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::filesystem::path reached = "/";
    for (const std::filesystem::path& name : folder.relative_path()) {
        if (name.empty() || name == ".") continue;
        reached /= name;
        OpenFile next = open_subfolder(at.number(), name);
        if (next.number() < 0) {
            if (errno != ENOENT) return not_made(reached, errno);
            if (!is_below_one_of(at.number(), allowed)) return not_allowed();
            Result<OpenFile> made = make_subfolder(at.number(), name, reached);
            if (!made) return made;
            next = std::move(*made);
        }
        at = std::move(next);
    }
    return at;
}

} // namespace

Result<ReplacedFile> ReplacedFile::make(const std::filesystem::path& path,
                                        const std::vector<std::filesystem::path>& folders)
{
    Result<OpenFile> folder = make_folders(path.parent_path(), folders);
    if (!folder) return folder.error();
    if (!is_below_one_of(folder->number(), folders)) return not_allowed();
    const std::string name = path.filename();
    const std::string part_name = ".fathom-part-" + std::to_string(std::random_device()());
    OpenFile file(
        ::openat(folder->number(), part_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (file.number() < 0) return not_made(path, errno);
    ::fchmod(file.number(), kFileMode);
    return ReplacedFile(std::move(*folder), std::move(file), part_name, name);
}

ReplacedFile::~ReplacedFile()
{
    if (!part_name_.empty()) ::unlinkat(folder_.number(), part_name_.c_str(), 0);
}

ReplacedFile::ReplacedFile(ReplacedFile&& other) noexcept
    : folder_(std::move(other.folder_)), file_(std::move(other.file_)), part_name_(std::exchange(other.part_name_, {})),
      name_(std::move(other.name_))
{
}

Result<void> ReplacedFile::add(std::string_view data)
{
    if (write_all(file_.number(), data)) return {};
    return Error{Errc::kUnavailable, "it cannot be written: " + error_text(errno)};
}

Result<void> ReplacedFile::put()
{
    if (::fsync(file_.number()) != 0) return Error{Errc::kUnavailable, "it cannot be written: " + error_text(errno)};
    if (::renameat(folder_.number(), part_name_.c_str(), folder_.number(), name_.c_str()) != 0)
        return Error{Errc::kUnavailable, "it cannot take the place of what is there: " + error_text(errno)};
    part_name_.clear();
    return {};
}

} // namespace fathom::agent
