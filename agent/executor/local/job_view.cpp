#include "agent/executor/local/job_view.hpp"

#include "agent/executor/local/home_view.hpp"
#include "core/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kViewRoot = "/run/fathom-job";
constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
constexpr const char* kSmall = "mode=0755,size=64k";

/// As statvfs() tells them, and as mount() takes them.
constexpr std::array<std::pair<unsigned long, unsigned long>, 6> kKeptFlags{{{ST_NOSUID, MS_NOSUID},
                                                                             {ST_NODEV, MS_NODEV},
                                                                             {ST_NOEXEC, MS_NOEXEC},
                                                                             {ST_NOATIME, MS_NOATIME},
                                                                             {ST_NODIRATIME, MS_NODIRATIME},
                                                                             {ST_RELATIME, MS_RELATIME}}};

bool is_below(const fs::path& path, const fs::path& folder)
{
    const fs::path relative = path.lexically_relative(folder);
    return !folder.empty() && !relative.empty() && *relative.begin() != "..";
}

/// What is mounted there, alone or with all below. Other flags stay: a user namespace may not take the host's away.
bool make_read_only(const fs::path& place, unsigned depth)
{
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(AT_FDCWD, place.c_str(), depth, &attributes, sizeof attributes) == 0) return true;
    // Linux before 5.12 has no such call; there what is mounted below keeps its own flags.
    struct statvfs facts{};
    if (::statvfs(place.c_str(), &facts) != 0) return false;
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    for (const auto& [told, kept] : kKeptFlags) {
        if ((facts.f_flag & told) != 0) flags |= kept;
    }
    return ::mount(nullptr, place.c_str(), nullptr, flags, nullptr) == 0;
}

bool shows_control_groups(const fs::path& place)
{
    struct statfs facts{};
    return ::statfs(place.c_str(), &facts) == 0 &&
           (facts.f_type == CGROUP2_SUPER_MAGIC || facts.f_type == CGROUP_SUPER_MAGIC);
}

/// The steps of enter_view(). After the first one that fails the others do nothing.
class ViewMaker {
  public:
    explicit ViewMaker(const JobView& view) : view_(view) {}

    std::string make()
    {
        enter_namespaces();
        // Before anything is covered; by descriptor they stay within reach.
        const int work = open_folder(view_.work);
        const int programs = open_folder(view_.programs);
        const int gpu_memory = open_folder(view_.gpu_memory);
        const int tmp = view_.temporary.empty() ? -1 : open_folder(view_.temporary / "tmp");
        const int var_tmp = view_.temporary.empty() ? -1 : open_folder(view_.temporary / "var-tmp");
        std::vector<int> shared;
        shared.reserve(view_.shared.size());
        for (const fs::path& path : view_.shared)
            shared.push_back(open_folder(path));

        if (view_.hidden.empty()) show_at_fixed_places(work, programs, gpu_memory);
        cover("/tmp", tmp);
        cover("/var/tmp", var_tmp);
        if (view_.own_shared_memory) cover_shared_memory();
        cover_by_memory("/run/user", kSmall);
        cover_home();
        for (std::size_t i = 0; i < shared.size(); ++i)
            show_again(view_.shared[i], shared[i]);
        if (!view_.hidden.empty()) hide_agent(work, programs, gpu_memory);
        hide_files();
        // Not before: places of what is shown were made in there.
        if (is_home_covered_) check(make_read_only(view_.home, 0), "protect " + view_.home.string());
        if (view_.own_processes)
            check(::mount("proc", "/proc", "proc", kPlain | MS_NOEXEC, nullptr) == 0, "mount a /proc of its own");
        return failure_;
    }

  private:
    void check(bool done, const std::string& step)
    {
        if (!done && failure_.empty()) failure_ = "cannot " + step + ": " + error_text(errno);
    }

    void enter_namespaces()
    {
        // Made on the host, so that the mount below has a place to be.
        if (view_.hidden.empty()) make_open_folder(kViewRoot);
        check(::unshare(CLONE_NEWNS | (view_.own_shared_memory ? CLONE_NEWIPC : 0)) == 0,
              "make mount and IPC namespaces");
        if (failure_.empty())
            check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make the mounts its own");
    }

    /// -1 when there is none, which binding will complain of.
    static int open_folder(const fs::path& path)
    {
        return path.empty() ? -1 : ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    }

    void make_open_folder(const fs::path& path)
    {
        check((::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) && ::chmod(path.c_str(), 0755) == 0,
              "make " + path.string());
    }

    static std::string path_of(int folder) { return "/proc/self/fd/" + std::to_string(folder); }

    void bind(int folder, const fs::path& place) { bind(path_of(folder), place); }

    void bind(const fs::path& source, const fs::path& place)
    {
        if (!failure_.empty()) return;
        check(::mount(source.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
              "show a folder at " + place.string());
    }

    void show_at_fixed_places(int work, int programs, int gpu_memory)
    {
        if (!failure_.empty()) return;
        // A small file system of its own, so that nothing of it is left on the host.
        check(::mount("fathom-job", kViewRoot, "tmpfs", kPlain, kSmall) == 0, std::string("mount ") + kViewRoot);
        make_open_folder(kViewWork);
        make_open_folder(kViewPrograms);
        // A job can do without fathom-probe, should that folder not be there.
        if (programs >= 0) bind(programs, kViewPrograms);
        if (!view_.work.empty()) bind(work, kViewWork);
        if (gpu_memory < 0) return;
        make_open_folder(kViewGpuMemory);
        bind(gpu_memory, kViewGpuMemory);
    }

    void cover(const fs::path& place, int folder)
    {
        std::error_code ignored;
        if (view_.temporary.empty() || !fs::is_directory(place, ignored)) return;
        bind(folder, place);
        covered_.push_back(place);
    }

    void cover_by_memory(const fs::path& place, const std::string& options)
    {
        std::error_code ignored;
        if (!failure_.empty() || !fs::is_directory(place, ignored)) return;
        check(::mount("fathom-job", place.c_str(), "tmpfs", kPlain, options.c_str()) == 0, "cover " + place.string());
        covered_.push_back(place);
    }

    void cover_home()
    {
        const bool goes_anyway = !view_.hidden.empty() && is_below(view_.home, view_.hidden);
        const int home = goes_anyway || !failure_.empty() ? -1 : open_folder(view_.home);
        if (home < 0) return;
        // Found before it is covered, and shown from the descriptor. Covering what is secret instead would last until
        // its owner puts a new file in its place.
        const fs::path real = path_of(home);
        const HomeView shown = view_.shows_home ? view_home(real) : HomeView();
        cover_by_memory(view_.home, kSmall);
        is_home_covered_ = failure_.empty();
        std::error_code error;
        for (const fs::path& link : shown.links)
            fs::copy_symlink(real / link, view_.home / link, error);
        for (const fs::path& folder : shown.folders) {
            fs::create_directories(view_.home / folder, error);
            show_protected(real / folder, view_.home / folder);
        }
        for (const fs::path& program : shown.programs) {
            std::ofstream(view_.home / program).close();
            show_protected(real / program, view_.home / program);
        }
        ::close(home);
    }

    void show_protected(const fs::path& source, const fs::path& place)
    {
        bind(source, place);
        if (failure_.empty()) check(make_read_only(place, AT_RECURSIVE), "protect " + place.string());
    }

    /// After all that could bring it back.
    void hide_agent(int work, int programs, int gpu_memory)
    {
        const bool are_programs_in_there = is_below(view_.programs, view_.hidden);
        if (!are_programs_in_there) protect_programs(programs);
        cover_by_memory(view_.hidden, kSmall);
        show_again(view_.work, work);
        if (are_programs_in_there) protect_programs(programs);
        show_again(view_.gpu_memory, gpu_memory);
        protect_control_groups();
    }

    /// The agent will run them, perhaps before it starts the next job.
    void protect_programs(int programs)
    {
        // A folder that holds the home folder would show all of that.
        if (programs < 0 || !failure_.empty() || is_below(view_.home, view_.programs)) return;
        show_again(view_.programs, programs);
        std::error_code error;
        if (failure_.empty() && fs::is_directory(view_.programs, error))
            show_protected(path_of(programs), view_.programs);
    }

    /// Those that were delegated to the agent are its user's, who is the job's: it could raise its own limits, or
    /// leave.
    void protect_control_groups()
    {
        std::ifstream mounts("/proc/self/mounts");
        for (std::string device, place, type, rest; mounts >> device >> place >> type && std::getline(mounts, rest);) {
            if (!failure_.empty()) return;
            if (type.starts_with("cgroup") && shows_control_groups(place))
                check(make_read_only(place, 0), "protect " + place);
        }
    }

    void cover_shared_memory()
    {
        cover_by_memory("/dev/shm", "mode=1777" + shared_memory_size());
        // Else the folder would still show the host's message queues.
        std::error_code ignored;
        if (!failure_.empty() || !fs::is_directory("/dev/mqueue", ignored)) return;
        check(::mount("mqueue", "/dev/mqueue", "mqueue", kPlain | MS_NOEXEC, nullptr) == 0, "cover /dev/mqueue");
    }

    std::string shared_memory_size() const
    {
        return view_.memory_bytes > 0 ? ",size=" + std::to_string(view_.memory_bytes) : std::string();
    }

    /// A folder that lies below a covered one comes back at its place.
    void show_again(const fs::path& path, int folder)
    {
        if (folder < 0 || !failure_.empty()) return;
        for (const fs::path& place : covered_) {
            if (!is_below(path, place)) continue;
            std::error_code error;
            fs::create_directories(path, error);
            bind(folder, path);
            return;
        }
    }

    /// An empty file that nobody may open stands in their place.
    void hide_files()
    {
        if (view_.hidden_files.empty() || !failure_.empty()) return;
        // In one of the file systems that are this view's own.
        const fs::path closed = (view_.hidden.empty() ? fs::path(kViewRoot) : view_.hidden) / "closed";
        const int file = ::open(closed.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0);
        check(file >= 0, "make " + closed.string());
        if (file >= 0) ::close(file);
        for (const std::string& path : view_.hidden_files) {
            if (!failure_.empty()) return;
            if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) continue;
            check(::mount(closed.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0, "hide " + path);
        }
    }

    const JobView& view_;
    std::vector<fs::path> covered_;
    bool is_home_covered_ = false;
    std::string failure_;
};

} // namespace

std::string enter_view(const JobView& view)
{
    return ViewMaker(view).make();
}

} // namespace fathom::agent
