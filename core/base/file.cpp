#include "core/base/file.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/write_all.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom {
namespace {

/// A device, a pipe or a socket cannot be replaced by a renamed file: /dev/null would be gone for everybody.
Result<void> write_device(const std::filesystem::path& path, std::string_view content)
{
    const OpenFile device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.number() >= 0 && write_all(device.number(), content)) return {};
    return Error{Errc::kUnavailable, "cannot write to " + path.string() + ": " + error_text(errno)};
}

/// Beside the file, and of this call alone: two threads may write the same file.
std::filesystem::path temporary_name(const std::filesystem::path& path)
{
    static std::atomic<std::uint64_t> count{0};
    return path.string() + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// Makes a rename last through a power failure. False when the folder could not be flushed; one that may not be read,
/// or whose file system knows no such thing, is left alone.
bool flush_folder_of(const std::filesystem::path& path)
{
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const OpenFile opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.number() < 0) return errno == EACCES;
    return ::fsync(opened.number()) == 0 || errno == EINVAL;
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view content, unsigned mode, bool flushed)
{
    struct stat facts{};
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
        return write_device(path, content);
    const std::filesystem::path temporary = temporary_name(path);
    const auto failed = [&](const char* step) {
        const Error error{Errc::kUnavailable,
                          std::string("cannot ") + step + " " + temporary.string() + ": " + error_text(errno)};
        ::unlink(temporary.c_str());
        return error;
    };
    {
        // Whatever has that name already is of a process that is gone, or of somebody else: it is not written to.
        ::unlink(temporary.c_str());
        const OpenFile file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (file.number() < 0) return failed("create");
        // The umask must not widen or narrow what the caller asked for.
        if (::fchmod(file.number(), mode) != 0) return failed("set the mode of");
        if (!write_all(file.number(), content)) return failed("write");
        if (flushed && ::fsync(file.number()) != 0) return failed("flush");
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename");
    if (flushed && !flush_folder_of(path))
        return Error{Errc::kUnavailable, "cannot flush the folder of " + path.string() + ": " + error_text(errno)};
    return {};
}

} // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes)
{
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) {
        const Errc code = errno == ENOENT ? Errc::kNotFound : Errc::kUnavailable;
        return Error{code, "cannot open " + path.string() + ": " + error_text(errno)};
    }
    std::string content;
    std::string block(65536, '\0');
    for (;;) {
        const ssize_t size = ::read(file.number(), block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Error{Errc::kUnavailable, "cannot read " + path.string() + ": " + error_text(errno)};
        if (size == 0) return content;
        content.append(block, 0, static_cast<std::size_t>(size));
        if (content.size() > max_bytes)
            return Error{Errc::kTooLarge, path.string() + " is larger than " + std::to_string(max_bytes) + " bytes"};
    }
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content, unsigned mode)
{
    return replace_file(path, content, mode, true);
}

Result<void> write_file_unflushed(const std::filesystem::path& path, std::string_view content, unsigned mode)
{
    return replace_file(path, content, mode, false);
}

} // namespace fathom
