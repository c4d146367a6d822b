#include "agent/executor/local/input_cache.hpp"

#include "agent/executor/local/file_lock.hpp"
#include "core/base/error_text.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/sha256.hpp"
#include "core/base/write_all.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fathom::agent {
namespace {

constexpr const char* kLockName = "lock";
constexpr const char* kPartName = "part"; ///< of the one who holds the lock
constexpr std::size_t kCopyBlockBytes = 1UL << 18U;
constexpr std::int64_t kSpareShare = 100; ///< of the disk, one part stays free

/// Its bytes, one block after the other; kUnavailable where they cannot be read, or not be taken.
template <class Take>
Result<void> read_all(int file, Take take)
{
    std::string block(kCopyBlockBytes, '\0');
    for (off_t at = 0;;) {
        const ssize_t size = ::pread(file, block.data(), block.size(), at);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Error{Errc::kUnavailable, "it cannot be read: " + error_text(errno)};
        if (size == 0) return {};
        if (Result<void> taken = take(std::string_view(block.data(), static_cast<std::size_t>(size))); !taken)
            return taken;
        at += size;
    }
}

Result<std::string> digest_of_file(int file)
{
    Sha256 digest;
    const Result<void> read = read_all(file, [&](std::string_view data) -> Result<void> {
        digest.add(data);
        return {};
    });
    if (!read) return read.error();
    return digest.hex();
}

/// A plain file's size; negative where it is none.
std::int64_t plain_size(int file)
{
    struct stat facts{};
    return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : -1;
}

bool can_spare(int folder, std::int64_t size_bytes)
{
    struct statvfs disk{};
    if (::fstatvfs(folder, &disk) != 0) return false;
    const auto block = static_cast<std::int64_t>(disk.f_frsize);
    const std::int64_t spare = block * static_cast<std::int64_t>(disk.f_blocks) / kSpareShare;
    return size_bytes <= block * static_cast<std::int64_t>(disk.f_bavail) - spare;
}

struct KeptFile {
    std::string name;
    std::int64_t size_bytes{};
    std::int64_t used_s{}; ///< since 1970
    std::int64_t used_ns{};
};

std::vector<KeptFile> list_kept(int folder, const std::filesystem::path& path)
{
    std::vector<KeptFile> files;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename();
        struct stat facts{};
        if (!is_sha256(name) || ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        files.push_back({name, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec});
    }
    return files;
}

} // namespace

Result<InputCache> InputCache::open(const InputCachePlace& place)
{
    Result<OpenFile> folder = make_folder(AT_FDCWD, place.folder, ::geteuid(), ::getegid());
    if (!folder) return folder.error();
    return InputCache(std::move(*folder), place);
}

OpenFile InputCache::find(const std::string& sha256) const
{
    if (!is_sha256(sha256)) return OpenFile();
    OpenFile file(::openat(folder_.number(), sha256.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.number() < 0 || plain_size(file.number()) < 0) return OpenFile();
    static_cast<void>(::futimens(file.number(), nullptr)); // the time of its last use
    return file;
}

OpenFile InputCache::lock() const
{
    OpenFile file(::openat(folder_.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    return wait_for_lock(file.number()) ? std::move(file) : OpenFile();
}

Result<void> InputCache::keep(int file, const std::string& sha256) const
{
    const std::int64_t size_bytes = plain_size(file);
    if (size_bytes < 0 || !is_sha256(sha256)) return Error{Errc::kInvalid, "it is no plain file"};
    if (size_bytes > place_.limit_bytes) return Error{Errc::kTooLarge, "it takes more than all files may"};
    const OpenFile held = lock();
    if (held.number() < 0) return Error{Errc::kUnavailable, "no lock: " + error_text(errno)};
    if (find(sha256).number() >= 0) return {};
    if (!can_spare(folder_.number(), size_bytes)) return Error{Errc::kTooLarge, "the disk has no room for it"};
    Result<void> copied = copy(file, size_bytes, sha256);
    if (copied) make_room(size_bytes);
    if (copied && ::renameat(folder_.number(), kPartName, folder_.number(), sha256.c_str()) != 0)
        copied = Error{Errc::kUnavailable, "it cannot be named: " + error_text(errno)};
    if (!copied) ::unlinkat(folder_.number(), kPartName, 0);
    return copied;
}

Result<void> InputCache::copy(int file, std::int64_t size_bytes, const std::string& sha256) const
{
    ::unlinkat(folder_.number(), kPartName, 0); // of one who was killed
    const OpenFile part(
        ::openat(folder_.number(), kPartName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
    if (part.number() < 0) return Error{Errc::kUnavailable, "it cannot be written: " + error_text(errno)};
    Sha256 digest;
    std::int64_t copied_bytes = 0;
    const Result<void> read = read_all(file, [&](std::string_view data) -> Result<void> {
        copied_bytes += static_cast<std::int64_t>(data.size());
        if (copied_bytes > size_bytes) return Error{Errc::kInvalid, "it grew while it was copied"};
        digest.add(data);
        if (!write_all(part.number(), data))
            return Error{Errc::kUnavailable, "it cannot be written: " + error_text(errno)};
        return {};
    });
    if (!read) return read;
    if (digest.hex() != sha256) return Error{Errc::kInvalid, "it has other content"};
    return {};
}

void InputCache::make_room(std::int64_t size_bytes) const
{
    std::vector<KeptFile> files = list_kept(folder_.number(), place_.folder);
    std::sort(files.begin(), files.end(), [](const KeptFile& a, const KeptFile& b) {
        return std::tie(a.used_s, a.used_ns, a.name) < std::tie(b.used_s, b.used_ns, b.name);
    });
    std::int64_t total_bytes = size_bytes;
    for (const KeptFile& file : files)
        total_bytes += file.size_bytes;
    for (const KeptFile& file : files) {
        if (total_bytes <= place_.limit_bytes) return;
        if (::unlinkat(folder_.number(), file.name.c_str(), 0) == 0) total_bytes -= file.size_bytes;
    }
}

void InputCache::check(const std::string& sha256) const
{
    const OpenFile held = lock();
    if (held.number() < 0) return;
    const OpenFile file = find(sha256);
    if (file.number() < 0) return;
    const Result<std::string> digest = digest_of_file(file.number());
    if (!digest || *digest != sha256) ::unlinkat(folder_.number(), sha256.c_str(), 0);
}

} // namespace fathom::agent
