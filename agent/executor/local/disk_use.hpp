#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fts.h>
#include <memory>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace fathom::agent {

/// How much of the disk a job's folders take, and how many files they hold: counted again and again, a little at a
/// time, so that a million files keep nobody waiting. What its processes hold open without a name counts, too; a file
/// with several names counts once. It follows no link. Folders that are nested so deeply that they cannot be counted
/// count as more than any limit. Not thread-safe.
class DiskUse {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// @param folders  of one file system
    explicit DiskUse(const std::vector<std::filesystem::path>& folders);

    /// Goes on with the count when its time has come.
    /// @param process  whose children, and theirs, are the job
    void go_on(SteadyTime now, pid_t process);
    /// When go_on() has something to do.
    SteadyTime next() const { return next_; }
    /// Bytes of the last whole count, or of the one under way when that has found more.
    std::int64_t bytes() const { return std::max(last_.bytes, counted_.bytes); }
    /// Likewise the files, folders and links, each of which takes an inode of the file system.
    std::int64_t files() const { return std::max(last_.files, counted_.files); }

  private:
    struct CloseWalk {
        void operator()(FTS* walk) const { ::fts_close(walk); }
    };
    using FileId = std::pair<dev_t, ino_t>;
    struct Count {
        std::int64_t bytes{};
        std::int64_t files{};
    };

    void begin(SteadyTime now);
    void finish(SteadyTime now, pid_t process);
    void add(const struct stat& facts, bool may_come_again);
    void add_nameless_files(pid_t process);

    std::vector<std::string> folders_;
    std::unique_ptr<FTS, CloseWalk> walk_;
    SteadyTime began_{};
    SteadyTime next_{};
    std::set<FileId> counted_once_; ///< of this count: files that may be met again
    Count counted_;
    Count last_;
};

} // namespace fathom::agent
