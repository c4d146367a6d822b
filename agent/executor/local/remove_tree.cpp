#include "agent/executor/local/remove_tree.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr int kMaxDepth = 100;   ///< of folders that are open at once: each holds a descriptor
constexpr int kMaxRounds = 1000; ///< against processes that make folders as fast as we delete them

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// One deletion of one tree.
class Removal {
  public:
    Removal(std::filesystem::path top, std::stop_token stop) : top_(std::move(top)), stop_(std::move(stop)) {}

    Result<void> perform()
    {
        const OpenFile parent(::open(top_.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (parent.number() < 0) {
            if (errno != ENOENT) note(top_.parent_path(), errno);
            return outcome();
        }
        for (int round = 0; round == 0 || (moved_up_ > 0 && round < kMaxRounds && !stop_.stop_requested()); ++round) {
            moved_up_ = 0;
            failures_ = 0;
            remove_folder(parent.number(), top_.filename(), top_, 0);
        }
        if (moved_up_ > 0) note(top_, ENOTEMPTY);
        return outcome();
    }

  private:
    void remove_folder(int parent, const std::string& name, const std::filesystem::path& path, int depth)
    {
        const Folder folder = open_folder(parent, name, path);
        if (!folder) return;
        if (depth == 0) top_descriptor_ = ::dirfd(folder.get());
        const std::size_t failures_before = failures_;
        errno = 0;
        while (const dirent* entry = ::readdir(folder.get())) {
            const std::string child = entry->d_name;
            if (child != "." && child != "..") remove_entry(::dirfd(folder.get()), child, path / child, depth);
            errno = 0;
        }
        if (errno != 0) note(path, errno);
        const bool is_empty = failures_ == failures_before && (depth > 0 || moved_up_ == 0);
        if (is_empty && ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) note(path, errno);
    }

    void remove_entry(int folder, const std::string& name, const std::filesystem::path& path, int depth)
    {
        if (stop_.stop_requested()) return note(path, ECANCELED);
        if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return;
        if (errno != EISDIR)
            note(path, errno);
        else if (depth < kMaxDepth)
            remove_folder(folder, name, path, depth + 1);
        else
            move_up(folder, name, path);
    }

    /// Opens a folder for deleting what is in it. Its descriptor names one folder, whatever is put in its place.
    Folder open_folder(int parent, const std::string& name, const std::filesystem::path& path)
    {
        const OpenFile handle(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat facts{};
        if (handle.number() < 0 || ::fstat(handle.number(), &facts) != 0) {
            if (errno != ENOENT) note(path, errno);
            return nullptr;
        }
        if (!device_) device_ = facts.st_dev;
        if (facts.st_dev != *device_) {
            note(path, EBUSY); // a file system is mounted there, and its files are not the job's
            return nullptr;
        }
        // A descriptor of this kind gives rights through its name only. Where it fails, opening or deleting says why.
        if ((facts.st_mode & S_IRWXU) != S_IRWXU)
            static_cast<void>(::chmod(("/proc/self/fd/" + std::to_string(handle.number())).c_str(), S_IRWXU));
        const int readable = ::openat(handle.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (readable < 0) {
            note(path, errno);
            return nullptr;
        }
        Folder folder(::fdopendir(readable));
        if (!folder) {
            note(path, errno);
            ::close(readable);
        }
        return folder;
    }

    /// A folder that lies too deep goes to the first one, whose next round finds it there.
    void move_up(int folder, const std::string& name, const std::filesystem::path& path)
    {
        const Folder moving = open_folder(folder, name, path); // moving a folder takes the right to write in it
        struct stat facts{};
        if (!moving || ::fstat(::dirfd(moving.get()), &facts) != 0) return;
        const std::string new_name = ".moved-up-" + std::to_string(facts.st_ino);
        if (::renameat(folder, name.c_str(), top_descriptor_, new_name.c_str()) == 0)
            ++moved_up_;
        else
            note(path, errno);
    }

    void note(const std::filesystem::path& path, int error)
    {
        if (failures_++ == 0) first_failure_ = path.string() + ": " + error_text(error);
    }

    Result<void> outcome() const
    {
        if (failures_ == 0) return {};
        std::string text = "cannot delete " + first_failure_;
        if (failures_ > 1) text += ", and " + std::to_string(failures_ - 1) + " more";
        return Error{Errc::kUnavailable, text};
    }

    std::filesystem::path top_;
    std::stop_token stop_;
    std::optional<dev_t> device_;
    int top_descriptor_{-1};
    std::size_t moved_up_{}; ///< in this round, as are the failures
    std::size_t failures_{};
    std::string first_failure_;
};

} // namespace

Result<void> remove_tree(const std::filesystem::path& path, const std::stop_token& stop)
{
    return Removal(path, stop).perform();
}

} // namespace fathom::agent
