#include "agent/executor/local/job_process.hpp"

#include "agent/executor/local/job_child.hpp"
#include "agent/executor/local/process_tree.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fathom::agent {
namespace {

bool is_plain_name(const std::string& name)
{
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

Result<void> give_to(const std::optional<JobUser>& user, const std::filesystem::path& path)
{
    if (user && ::lchown(path.c_str(), user->uid, user->gid) != 0)
        return Error{Errc::kUnavailable,
                     "cannot give " + path.string() + " to " + user->name + ": " + error_text(errno)};
    return {};
}

Result<void> write_job_file(const SupervisorOrder& order, const std::filesystem::path& path, const std::string& content,
                            unsigned mode)
{
    if (Result<void> written = write_file(path, content, mode); !written) return written;
    return give_to(order.user, path);
}

Result<void> make_temporary_folders(const AttemptFolder& folder)
{
    for (const std::filesystem::path& path : {folder.tmp(), folder.var_tmp()}) {
        // For all, as programs expect of such folders: nobody else comes here.
        if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::chmod(path.c_str(), 01777) != 0)
            return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    }
    return {};
}

Result<void> make_empty_folder(const std::filesystem::path& path)
{
    int made = ::mkdir(path.c_str(), 0700);
    if (made != 0 && errno == EEXIST) {
        // Of an earlier try, and perhaps the job's user's already, whose other jobs may have put links there.
        if (Result<void> removed = remove_tree(path); !removed) return removed;
        made = ::mkdir(path.c_str(), 0700);
    }
    if (made != 0) return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    return {};
}

Result<void> write_job_files(const SupervisorOrder& order, const std::filesystem::path& work,
                             const std::map<std::string, int>& cached_inputs)
{
    for (const auto& [name, content] : order.run.order.files) {
        if (!is_plain_name(name)) return Error{Errc::kInvalid, "\"" + name + "\" is not a plain file name"};
        if (Result<void> done = write_job_file(order, work / name, content, 0600); !done) return done;
    }
    if (uses_staging(order.run.order)) {
        StagingOrder staged{order.run.order.inputs, order.run.order.outputs, order.staging, cached_inputs};
        if (order.input_cache.jobs_open_files) staged.cache_folder = order.input_cache.folder;
        const std::string staging = encode(staged);
        if (Result<void> done = write_job_file(order, work / kStagingOrderName, staging, 0600); !done) return done;
    }
    if (!order.run.library.empty()) {
        // Not given to the job's user, who is only to read it.
        if (Result<void> done = write_file(work / kLibraryName, order.run.library, 0444); !done) return done;
    }
    if (order.run.order.script.empty()) return {};
    return write_job_file(order, work / kJobScriptName, order.run.order.script, 0700);
}

struct Pipe {
    int read_end{-1};
    int write_end{-1};

    Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe()
    {
        if (read_end >= 0) ::close(read_end);
        if (write_end >= 0) ::close(write_end);
    }
    bool open()
    {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        read_end = ends[0];
        write_end = ends[1];
        return true;
    }
    void close_write_end()
    {
        if (write_end >= 0) ::close(write_end);
        write_end = -1;
    }
    /// Hands the reading end to the caller, who must close it.
    int release_read_end()
    {
        const int fd = read_end;
        read_end = -1;
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
    }
};

} // namespace

Result<void> prepare_work(const SupervisorOrder& order, const AttemptFolder& folder,
                          const std::map<std::string, int>& cached_inputs)
{
    const std::filesystem::path work = folder.work();
    if (Result<void> made = make_temporary_folders(folder); !made) return made;
    if (Result<void> made = make_empty_folder(work); !made) return made;
    if (Result<void> written = write_job_files(order, work, cached_inputs); !written) return written;
    return give_to(order.user, work);
}

namespace {

struct Pipes {
    Pipe output;
    Pipe errors;
    Pipe report; ///< from the job: why it cannot go on
    Pipe pids;   ///< from the starter

    bool open() { return output.open() && errors.open() && report.open() && pids.open(); }
};

/// Both ends are closed, unless the one that keeps the init alive was taken.
class LifelineEnds {
  public:
    explicit LifelineEnds(std::optional<Lifeline> ends) : ends_(ends) {}
    ~LifelineEnds()
    {
        if (!ends_) return;
        ::close(ends_->init_end);
        if (ends_->our_end >= 0) ::close(ends_->our_end);
    }
    LifelineEnds(const LifelineEnds&) = delete;
    LifelineEnds& operator=(const LifelineEnds&) = delete;

    int take() { return std::exchange(ends_->our_end, -1); }

  private:
    std::optional<Lifeline> ends_;
};

void wait_for(pid_t pid)
{
    int status = 0;
    reap_child(pid, status);
}

/// What was written by processes that have ended or run another program now, and left the pipe with that.
std::string read_rest(int fd)
{
    std::string text;
    std::array<char, 4096> block; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    for (;;) {
        const ssize_t size = ::read(fd, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return text;
        text.append(block.data(), static_cast<std::size_t>(size));
    }
}

JobPids read_pids(int fd)
{
    JobPids pids;
    const std::string told = read_rest(fd);
    // The last one tells of both.
    if (told.size() >= sizeof pids) std::memcpy(&pids, told.data() + told.size() - sizeof pids, sizeof pids);
    return pids;
}

/// Until the starter has ended, and with that the job runs its program or has failed to.
bool run_starter(JobStart& start, JobChildren& children)
{
    char** const variables = environ; // the job's are put in their place, in a memory that may be ours
    bool has_run = children.waiting.run(&be_joined_starter, &start);
    if (!has_run) {
        const int memory = may_share_memory() ? CLONE_VM : 0;
        const pid_t starter = children.starter.start(CLONE_VFORK | memory, &be_starter, &start);
        has_run = starter > 0;
        if (has_run) wait_for(starter);
    }
    environ = variables;
    return has_run;
}

/// The processes that a start in vain has left.
void clear_away(const JobPids& pids, const std::optional<JobInit>& init)
{
    if (pids.job > 0) wait_for(pids.job);
    if (init) static_cast<void>(end_init(*init));
    static_cast<void>(kill_descendants());
}

} // namespace

Result<JobProcess> start_job(const SupervisorOrder& order, const AttemptFolder& folder, const Cgroup& cgroup,
                             const SystemCallFilter* filter, JobChildren& children,
                             const std::map<std::string, int>& cached_inputs)
{
    Pipes pipes;
    if (!pipes.open()) return Error{Errc::kUnavailable, "cannot make a pipe: " + error_text(errno)};
    JobStart start(order, folder, ::getpid());
    if (order.isolation.processes) {
        const Result<Lifeline> lifeline = make_lifeline();
        if (!lifeline) return lifeline.error();
        start.lifeline = *lifeline;
    }
    LifelineEnds lifeline(start.lifeline);
    if (order.user) { // else it could not open /dev/stdout and /dev/stderr
        static_cast<void>(::fchown(pipes.output.write_end, order.user->uid, order.user->gid));
        static_cast<void>(::fchown(pipes.errors.write_end, order.user->uid, order.user->gid));
    }
    // Without mount namespaces (in most containers) the job must be able to walk to its real folder.
    if (order.user && !order.isolation.files) ::chmod(folder.path().c_str(), 0711);
    start.join_files = cgroup.join_files();
    start.stdout_fd = pipes.output.write_end;
    start.stderr_fd = pipes.errors.write_end;
    start.report_fd = pipes.report.write_end;
    start.pids_fd = pipes.pids.write_end;
    start.filter = filter;
    start.init_stack = &children.init;
    start.job_stack = &children.job;
    for (const auto& [sha256, number] : cached_inputs)
        start.open_files.push_back(number);

    if (!run_starter(start, children)) return Error{Errc::kUnavailable, "cannot make a process: " + error_text(errno)};
    for (Pipe* pipe : {&pipes.output, &pipes.errors, &pipes.report, &pipes.pids})
        pipe->close_write_end();
    const std::string problem = read_rest(pipes.report.read_end);
    const JobPids pids = read_pids(pipes.pids.read_end);
    std::optional<JobInit> init;
    if (pids.init > 0) init = JobInit{pids.init, lifeline.take()};
    if (problem.empty() && pids.job > 0)
        return JobProcess{pids.job, pipes.output.release_read_end(), pipes.errors.release_read_end(), init};
    clear_away(pids, init);
    if (problem.empty()) return Error{Errc::kUnavailable, "the process that was to become the job is gone"};
    const bool is_programs = problem.front() == static_cast<char>(StartFailure::kPrograms);
    return Error{is_programs ? Errc::kInvalid : Errc::kUnavailable, problem.substr(1)};
}

} // namespace fathom::agent
