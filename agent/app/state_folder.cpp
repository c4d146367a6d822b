#include "agent/app/state_folder.hpp"

#include "agent/executor/local/file_lock.hpp"
#include "core/base/error_text.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kLock = "agent.lock";
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kPause{20};

} // namespace

Result<OpenFile> open_state_folder(const std::filesystem::path& state_dir)
{
    OpenFile folder(::open(state_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat facts{};
    if (folder.number() < 0 || ::fstat(folder.number(), &facts) != 0)
        return Error{Errc::kUnavailable, "cannot open " + state_dir.string() + ": " + error_text(errno)};
    const bool others_write = (facts.st_mode & S_IWOTH) != 0 || ((facts.st_mode & S_IWGRP) != 0 && facts.st_gid != 0);
    if (::geteuid() == 0 && (facts.st_uid != 0 || others_write))
        return Error{Errc::kUnavailable, "started as root, the agent wants a state folder where nobody else writes: "
                                         "chown root " +
                                             state_dir.string() + " && chmod go-w " + state_dir.string()};
    return folder;
}

Result<OpenFile> take_state_lock(const std::filesystem::path& state_dir)
{
    const Result<OpenFile> folder = open_state_folder(state_dir);
    if (!folder) return folder.error();
    OpenFile file(::openat(folder->number(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.number() < 0)
        return Error{Errc::kUnavailable, "cannot open " + (state_dir / kLock).string() + ": " + error_text(errno)};
    for (int i = 0; i < kTries; ++i) {
        if (take_lock(file.number())) return file;
        std::this_thread::sleep_for(kPause);
    }
    return Error{Errc::kConflict, "another fathom-agent runs with the state folder " + state_dir.string()};
}

} // namespace fathom::agent
