#include "agent/executor/local/folder_watch.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/inotify.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Files of supervisors appear by renaming; the lock is closed when a supervisor dies; output grows.
constexpr std::uint32_t kChanges = IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY;

/// Read in one go; the rest stays for the next time, however fast more comes.
constexpr int kMaxBlocks = 64;

bool is_output(std::string_view name)
{
    return name == to_string(OutputStream::kStdout) || name == to_string(OutputStream::kStderr);
}

void note_change(const inotify_event& event, const char* name, const AttemptId& attempt, ExecutorChanges& changes)
{
    if (event.len > 0 && is_output(name))
        changes.written.insert(attempt);
    else if ((event.mask & (IN_MOVED_TO | IN_CLOSE_WRITE)) != 0)
        changes.moved.insert(attempt);
}

} // namespace

FolderWatch::FolderWatch() : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

FolderWatch::~FolderWatch()
{
    if (inotify_ >= 0) ::close(inotify_);
}

void FolderWatch::add(const AttemptId& attempt, const std::filesystem::path& folder)
{
    if (inotify_ < 0) return;
    const int watch = ::inotify_add_watch(inotify_, folder.c_str(), kChanges | IN_ONLYDIR);
    if (watch < 0) return;
    attempts_.insert_or_assign(watch, attempt);
    watches_.insert_or_assign(attempt, watch);
}

void FolderWatch::remove(const AttemptId& attempt)
{
    const auto found = watches_.find(attempt);
    if (found == watches_.end()) return;
    static_cast<void>(::inotify_rm_watch(inotify_, found->second)); // the folder may be gone, and its watch with it
    attempts_.erase(found->second);
    watches_.erase(found);
}

ExecutorChanges FolderWatch::read()
{
    ExecutorChanges changes;
    if (inotify_ < 0) return changes;
    alignas(inotify_event) std::array<char, 65536> block{};
    for (int blocks = 0; blocks < kMaxBlocks; ++blocks) {
        const ssize_t size = ::read(inotify_, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        for (ssize_t position = 0; position < size;) {
            inotify_event event{};
            std::memcpy(&event, &block[static_cast<std::size_t>(position)], sizeof event);
            const char* name = &block[static_cast<std::size_t>(position)] + sizeof event;
            position += static_cast<ssize_t>(sizeof event + event.len);
            if ((event.mask & IN_Q_OVERFLOW) != 0) changes.some_missed = true;
            const auto attempt = attempts_.find(event.wd);
            if (attempt != attempts_.end()) note_change(event, name, attempt->second, changes);
        }
    }
    return changes;
}

} // namespace fathom::agent
