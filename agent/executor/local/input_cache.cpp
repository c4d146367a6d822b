#include "agent/executor/local/input_cache.hpp"

#include "agent/executor/local/file_lock.hpp"
#include "core/base/clock.hpp"
#include "core/base/error_text.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/sha256.hpp"
#include "core/base/write_all.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fathom::agent {
namespace {

using std::chrono::steady_clock;

constexpr const char* kOwnName = "own";
constexpr const char* kLockName = "lock";
constexpr const char* kPartName = "part"; ///< of the one who holds the lock
constexpr std::size_t kCopyBlockBytes = 1UL << 18U;
constexpr std::uint64_t kSpareShare = 100;              ///< of the disk, one part stays free
constexpr std::chrono::milliseconds kStopInterval{100}; ///< how soon a wait ends that is to stop
constexpr std::int64_t kSmallBytes = 1 << 20U;          ///< up to there holes cost nobody much
constexpr std::int64_t kHolesShare = 16;                ///< of a file, more than one part must be there
constexpr std::int64_t kStatBlockBytes = 512;           ///< of st_blocks

/// Holds reading to so many bytes a second.
class Pace {
  public:
    explicit Pace(const KeepManner& manner) : manner_(&manner) {}

    /// After so many more bytes: waits until the next may be read. @return false: it is to stop
    bool go_on(std::size_t bytes)
    {
        bytes_ += bytes;
        for (;;) {
            if (manner_->stop.stop_requested()) return false;
            if (manner_->most_bytes_per_s == 0) return true;
            const std::chrono::duration<double> due(static_cast<double>(bytes_) /
                                                    static_cast<double>(manner_->most_bytes_per_s));
            const std::chrono::duration<double> ahead = due - (steady_clock::now() - begin_);
            if (ahead.count() <= 0) return true;
            std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(ahead, kStopInterval));
        }
    }

  private:
    const KeepManner* manner_;
    steady_clock::time_point begin_ = steady_clock::now();
    std::uint64_t bytes_ = 0;
};

/// Its bytes, one block after the other; kUnavailable where they cannot be read, or not be taken.
template <class Take>
Result<void> read_all(int file, const KeepManner& manner, Take take)
{
    Pace pace(manner);
    std::string block(kCopyBlockBytes, '\0');
    for (off_t at = 0;;) {
        const ssize_t size = ::pread(file, block.data(), block.size(), at);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Error{Errc::kUnavailable, "it cannot be read: " + error_text(errno)};
        if (size == 0) return {};
        if (Result<void> taken = take(std::string_view(block.data(), static_cast<std::size_t>(size))); !taken)
            return taken;
        at += size;
        if (!pace.go_on(static_cast<std::size_t>(size))) return Error{Errc::kUnavailable, "there is no time for it"};
    }
}

Result<std::string> digest_of_file(int file, const KeepManner& manner)
{
    Sha256 digest;
    const Result<void> read = read_all(file, manner, [&](std::string_view data) -> Result<void> {
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

bool is_mostly_holes(int file)
{
    struct stat facts{};
    return ::fstat(file, &facts) == 0 && facts.st_size > kSmallBytes &&
           facts.st_blocks * kStatBlockBytes < facts.st_size / kHolesShare;
}

bool can_spare(int folder, std::int64_t size_bytes)
{
    struct statvfs disk{};
    if (::fstatvfs(folder, &disk) != 0) return false;
    // In blocks: some file systems say sizes near the largest number.
    const std::uint64_t spare = disk.f_blocks / kSpareShare;
    const std::uint64_t wanted = static_cast<std::uint64_t>(size_bytes) / std::max<std::uint64_t>(disk.f_frsize, 1) + 1;
    return disk.f_bavail > spare && wanted <= disk.f_bavail - spare;
}

/// Its mode is changed only where it is another one: jobs may be on their way through it.
Result<OpenFile> open_or_make(int parent, const std::filesystem::path& name, mode_t mode)
{
    Result<OpenFile> folder = open_folder(parent, name, ::geteuid());
    if (!folder && folder.error().code == Errc::kNotFound) folder = make_folder(parent, name, ::geteuid(), ::getegid());
    if (!folder) return folder;
    struct stat facts{};
    const bool is_known = ::fstat(folder->number(), &facts) == 0;
    if (is_known && ((facts.st_mode & 07777U) == mode || ::fchmod(folder->number(), mode) == 0)) return folder;
    return Error{Errc::kUnavailable, "cannot set the mode of " + name.string() + ": " + error_text(errno)};
}

std::int64_t now_ns()
{
    return std::chrono::nanoseconds(SystemClock().now().time_since_epoch()).count();
}

} // namespace

Result<InputCache> InputCache::open(const InputCachePlace& place)
{
    Result<OpenFile> folder = open_or_make(AT_FDCWD, place.folder, place.jobs_open_files ? 0711 : 0700);
    if (!folder) return folder.error();
    Result<OpenFile> own = open_or_make(folder->number(), kOwnName, 0700);
    if (!own) return own.error();
    return InputCache(std::move(*folder), std::move(*own), place);
}

OpenFile InputCache::find(const std::string& sha256) const
{
    if (!is_sha256(sha256)) return OpenFile();
    OpenFile file(::openat(folder_.number(), sha256.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.number() < 0 || plain_size(file.number()) < 0) return OpenFile();
    static_cast<void>(::futimens(file.number(), nullptr)); // the time of its last use
    return file;
}

OpenFile InputCache::lock(const KeepManner& manner) const
{
    OpenFile file(::openat(own_.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    const bool waits_for_ever = !manner.stop.stop_possible() && manner.most_wait.count() == 0;
    if (waits_for_ever) return wait_for_lock(file.number()) ? std::move(file) : OpenFile();
    const steady_clock::time_point begin = steady_clock::now();
    std::chrono::milliseconds pause{1};
    while (!manner.stop.stop_requested()) {
        if (take_lock(file.number())) return file;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) return OpenFile();
        if (manner.most_wait.count() > 0 && steady_clock::now() - begin >= manner.most_wait) return OpenFile();
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kStopInterval);
    }
    return OpenFile();
}

Result<void> InputCache::keep(int file, const std::string& sha256, const KeepManner& manner) const
{
    const std::int64_t size_bytes = plain_size(file);
    if (size_bytes < 0 || !is_sha256(sha256)) return Error{Errc::kInvalid, "it is no plain file"};
    if (is_mostly_holes(file)) return Error{Errc::kTooLarge, "it is mostly holes"};
    const OpenFile held = lock(manner);
    if (held.number() < 0) return Error{Errc::kUnavailable, "no lock: " + error_text(errno)};
    if (find(sha256).number() >= 0) return {};
    KeptInput coming{.sha256 = sha256, .size_bytes = size_bytes, .used_ns = now_ns()};
    if (manner.bringer && *manner.bringer != ::geteuid()) coming.bringer = manner.bringer;
    const Result<std::vector<std::string>> leaving =
        choose_leaving(list_kept(), coming, place_.limit_bytes, coming.used_ns);
    if (!leaving) return leaving.error();
    if (!can_spare(folder_.number(), size_bytes)) return Error{Errc::kTooLarge, "the disk has no room for it"};
    Result<void> copied = copy(file, size_bytes, sha256, manner);
    if (copied) copied = note_bringer(sha256, coming.bringer);
    for (auto name = leaving->begin(); copied && name != leaving->end(); ++name) {
        if (!give_up(*name)) copied = Error{Errc::kUnavailable, "a file cannot be given up for it"};
    }
    if (copied && ::renameat(own_.number(), kPartName, folder_.number(), sha256.c_str()) != 0)
        copied = Error{Errc::kUnavailable, "it cannot be named: " + error_text(errno)};
    if (!copied) ::unlinkat(own_.number(), kPartName, 0);
    return copied;
}

Result<void> InputCache::copy(int file, std::int64_t size_bytes, const std::string& sha256,
                              const KeepManner& manner) const
{
    const auto not_written = [] { return Error{Errc::kUnavailable, "it cannot be written: " + error_text(errno)}; };
    ::unlinkat(own_.number(), kPartName, 0); // of one who was killed
    const OpenFile part(::openat(own_.number(), kPartName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
    if (part.number() < 0) return not_written();
    Sha256 digest;
    std::int64_t copied_bytes = 0;
    // Of the very bytes that are written, into a file that nobody else can open: the other file may change meanwhile.
    const Result<void> read = read_all(file, manner, [&](std::string_view data) -> Result<void> {
        copied_bytes += static_cast<std::int64_t>(data.size());
        if (copied_bytes > size_bytes) return Error{Errc::kInvalid, "it grew while it was copied"};
        digest.add(data);
        if (!write_all(part.number(), data)) return not_written();
        return {};
    });
    if (!read) return read;
    if (digest.hex() != sha256) return Error{Errc::kInvalid, "it has other content"};
    if (place_.jobs_open_files && ::fchmod(part.number(), 0444) != 0) return not_written();
    if (manner.is_flushed && ::fsync(part.number()) != 0) return not_written();
    return {};
}

std::vector<KeptInput> InputCache::list_kept() const
{
    constexpr std::int64_t kSecond_ns = 1'000'000'000;
    std::vector<KeptInput> files;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(place_.folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        struct stat facts{};
        if (!is_sha256(name) || ::fstatat(folder_.number(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        files.push_back({.sha256 = name,
                         .size_bytes = facts.st_size,
                         .used_ns = facts.st_mtim.tv_sec * kSecond_ns + facts.st_mtim.tv_nsec,
                         .bringer = bringer_of(name)});
    }
    return files;
}

Result<void> InputCache::note_bringer(const std::string& sha256, const std::optional<unsigned>& bringer) const
{
    ::unlinkat(own_.number(), sha256.c_str(), 0); // of an earlier file of that name
    if (!bringer) return {};
    const OpenFile note(::openat(own_.number(), sha256.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
    if (note.number() >= 0 && ::fchown(note.number(), *bringer, static_cast<gid_t>(-1)) == 0) return {};
    return Error{Errc::kUnavailable, "who brought it cannot be noted: " + error_text(errno)};
}

std::optional<unsigned> InputCache::bringer_of(const std::string& sha256) const
{
    struct stat facts{};
    if (::fstatat(own_.number(), sha256.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return facts.st_uid;
}

bool InputCache::give_up(const std::string& sha256) const
{
    if (::unlinkat(folder_.number(), sha256.c_str(), 0) != 0 && errno != ENOENT) return false;
    ::unlinkat(own_.number(), sha256.c_str(), 0);
    return true;
}

Result<std::string> InputCache::read(const std::string& sha256, std::int64_t offset, std::size_t max_bytes) const
{
    const OpenFile file = find(sha256);
    if (file.number() < 0) return Error{Errc::kNotFound, "no copy of it is kept"};
    std::string data(max_bytes, '\0');
    std::size_t filled = 0;
    while (filled < max_bytes) {
        const ssize_t size = ::pread(file.number(), data.data() + filled, max_bytes - filled,
                                     static_cast<off_t>(offset) + static_cast<off_t>(filled));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Error{Errc::kUnavailable, "its copy cannot be read: " + error_text(errno)};
        if (size == 0) break;
        filled += static_cast<std::size_t>(size);
    }
    data.resize(filled);
    return data;
}

bool InputCache::check(const std::string& sha256, const KeepManner& manner) const
{
    const OpenFile held = lock(manner);
    if (held.number() < 0) return true;
    const OpenFile file = find(sha256);
    if (file.number() < 0) return true; // given up since the job found it so
    const Result<std::string> digest = digest_of_file(file.number(), manner);
    if (manner.stop.stop_requested()) return true;
    if (digest && *digest == sha256) return false;
    give_up(sha256);
    return true;
}

Result<std::string> read_kept_file(const InputCachePlace& place, const std::string& sha256, std::int64_t offset,
                                   std::size_t max_bytes)
{
    if (place.limit_bytes <= 0) return Error{Errc::kNotFound, "this center keeps no copies of files"};
    const Result<InputCache> cache = InputCache::open(place);
    if (!cache) return Error{Errc::kUnavailable, cache.error().detail};
    return cache->read(sha256, offset, max_bytes);
}

KeptFileRead kept_file_read_of(InputCachePlace place)
{
    return [place = std::move(place)](const std::string& sha256, std::int64_t offset, std::size_t max_bytes) {
        return read_kept_file(place, sha256, offset, max_bytes);
    };
}

} // namespace fathom::agent
