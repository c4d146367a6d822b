#include "agent/executor/local/disk_use.hpp"

#include "agent/executor/local/process_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

constexpr int kEntriesAtOnce = 2000;           // some milliseconds
constexpr std::int64_t kBlock = 512;           // of st_blocks
constexpr auto kFirst = 1s;                    // most jobs end before
constexpr auto kPeriod = 5s;                   // between two counts
constexpr int kShare = 20;                     // of the time at most one part goes into counting
constexpr std::size_t kMaxFilesOnce = 1 << 18; // that are remembered; hard links beyond count again
constexpr std::int64_t kUncountable = INT64_MAX;

} // namespace

DiskUse::DiskUse(const std::vector<std::filesystem::path>& folders) : next_(std::chrono::steady_clock::now() + kFirst)
{
    for (const std::filesystem::path& folder : folders)
        folders_.push_back(folder.string());
}

void DiskUse::begin(SteadyTime now)
{
    std::vector<char*> paths;
    for (std::string& folder : folders_)
        paths.push_back(folder.data());
    paths.push_back(nullptr);
    // With its own working folder, which finds the deepest ones: nothing else of the process needs one.
    walk_.reset(::fts_open(paths.data(), FTS_PHYSICAL | FTS_XDEV, nullptr));
    began_ = now;
    counted_ = {};
    counted_once_.clear();
}

void DiskUse::go_on(SteadyTime now, pid_t process)
{
    if (now < next_) return;
    if (!walk_) begin(now);
    for (int i = 0; i < kEntriesAtOnce; ++i) {
        errno = 0;
        const FTSENT* const entry = walk_ ? ::fts_read(walk_.get()) : nullptr;
        if (entry == nullptr) {
            // A path of more than 64 KiB ends the walk: what lies there and in the next folders would not count.
            if (errno == ENAMETOOLONG) counted_ = {kUncountable, kUncountable};
            return finish(std::chrono::steady_clock::now(), process);
        }
        const bool has_facts = entry->fts_info == FTS_F || entry->fts_info == FTS_D || entry->fts_info == FTS_SL ||
                               entry->fts_info == FTS_DEFAULT || entry->fts_info == FTS_DNR;
        if (has_facts) add(*entry->fts_statp, entry->fts_info != FTS_D && entry->fts_statp->st_nlink > 1);
    }
}

void DiskUse::finish(SteadyTime now, pid_t process)
{
    walk_.reset();
    if (counted_.bytes < kUncountable) add_nameless_files(process);
    last_ = std::exchange(counted_, {});
    next_ = now + std::max<SteadyTime::duration>(kPeriod, kShare * (now - began_));
}

void DiskUse::add(const struct stat& facts, bool may_come_again)
{
    if (may_come_again && counted_once_.size() < kMaxFilesOnce &&
        !counted_once_.emplace(facts.st_dev, facts.st_ino).second)
        return;
    counted_.bytes += facts.st_blocks * kBlock;
    ++counted_.files;
}

/// Files that were deleted while a process has them open.
void DiskUse::add_nameless_files(pid_t process)
{
    struct stat top{};
    if (folders_.empty() || ::stat(folders_.front().c_str(), &top) != 0) return;
    for (const pid_t pid : descendants_of(process)) {
        const std::string path = "/proc/" + std::to_string(pid) + "/fd";
        DIR* const folder = ::opendir(path.c_str());
        if (folder == nullptr) continue;
        while (const dirent* entry = ::readdir(folder)) {
            struct stat facts{};
            if (::fstatat(::dirfd(folder), entry->d_name, &facts, 0) != 0) continue;
            if (S_ISREG(facts.st_mode) && facts.st_nlink == 0 && facts.st_dev == top.st_dev) add(facts, true);
        }
        ::closedir(folder);
    }
}

} // namespace fathom::agent
