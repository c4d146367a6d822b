#include "server/app/state_lock.hpp"

#include "core/base/error_text.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace fathom::server {
namespace {

std::string reason()
{
    return error_text(errno);
}

/// A fathomd that was killed is gone with the last of its processes, moments after its first.
bool lock_patiently(int file)
{
    using namespace std::chrono_literals;
    for (int tries = 0;; ++tries) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK || tries == 100) return false;
        std::this_thread::sleep_for(20ms);
    }
}

std::string read_owner(int file)
{
    char text[32];
    const ssize_t size = pread(file, text, sizeof text, 0);
    std::string owner(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    while (owner.ends_with('\n'))
        owner.pop_back();
    return owner;
}

} // namespace

Result<StateLock> StateLock::take(const std::filesystem::path& state_dir)
{
    std::error_code error;
    const bool is_new = std::filesystem::create_directories(state_dir, error);
    // One that was there keeps its mode: who made it may want others to read ca.pem in it.
    if (!error && is_new) std::filesystem::permissions(state_dir, std::filesystem::perms::owner_all, error);
    if (error)
        return Error{Errc::kUnavailable, "cannot make the state folder " + state_dir.string() + ": " + error.message()};
    const std::filesystem::path path = state_dir / "fathomd.lock";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return Error{Errc::kUnavailable, "cannot write to the state folder " + state_dir.string() + ": " + reason()};
    StateLock lock(file);
    // flock, not fcntl: an fcntl lock would go when any other descriptor of the file is closed.
    if (!lock_patiently(file)) {
        if (errno != EWOULDBLOCK) return Error{Errc::kUnavailable, "cannot lock " + path.string() + ": " + reason()};
        return Error{Errc::kConflict, "another fathomd (process " + read_owner(file) + ") uses the state folder " +
                                          state_dir.string() + "; give this one another --state-dir"};
    }
    const std::string owner = std::to_string(getpid()) + "\n";
    if (ftruncate(file, 0) != 0 || pwrite(file, owner.data(), owner.size(), 0) < 0)
        return Error{Errc::kUnavailable, "cannot write to the state folder " + state_dir.string() + ": " + reason()};
    return lock;
}

StateLock::StateLock(StateLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

StateLock::~StateLock()
{
    if (file_ >= 0) close(file_);
}

} // namespace fathom::server
