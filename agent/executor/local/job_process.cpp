#include "agent/executor/local/job_process.hpp"

#include "agent/executor/local/job_child.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kScriptName = "job-script";

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
        ::close(write_end);
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

/// What the child says before exec() closes the pipe: nothing, or why it cannot go on.
std::string read_report(int fd)
{
    std::string report;
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t size = ::read(fd, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return report;
        report.append(block.data(), static_cast<std::size_t>(size));
    }
}

} // namespace

Result<void> prepare_work(const SupervisorOrder& order, const AttemptFolder& folder)
{
    for (const std::filesystem::path& path : {folder.tmp(), folder.var_tmp()}) {
        // For all, as programs expect of such folders: nobody else comes here.
        if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::chmod(path.c_str(), 01777) != 0)
            return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    }
    const std::filesystem::path work = folder.work();
    if (::mkdir(work.c_str(), 0700) != 0 && errno != EEXIST)
        return Error{Errc::kUnavailable, "cannot make " + work.string() + ": " + error_text(errno)};
    for (const auto& [name, content] : order.run.order.files) {
        if (!is_plain_name(name)) return Error{Errc::kInvalid, "\"" + name + "\" is not a plain file name"};
        if (Result<void> done = write_job_file(order, work / name, content, 0600); !done) return done;
    }
    if (!order.run.order.script.empty()) {
        if (Result<void> done = write_job_file(order, work / kScriptName, order.run.order.script, 0700); !done)
            return done;
    }
    return give_to(order.user, work);
}

Result<JobProcess> start_job(const SupervisorOrder& order, const AttemptFolder& folder, const Cgroup& cgroup)
{
    Pipe output;
    Pipe errors;
    Pipe report;
    if (!output.open() || !errors.open() || !report.open())
        return Error{Errc::kUnavailable, "cannot make a pipe: " + error_text(errno)};

    ChildPlan plan{order,      folder,           cgroup.join_files(), order.run.order.command,
                   ::getpid(), output.write_end, errors.write_end,    report.write_end};
    if (!order.run.order.script.empty()) {
        plan.command = {std::string("./") + kScriptName};
        if (!order.run.order.script.starts_with("#!")) plan.command.insert(plan.command.begin(), "/bin/sh");
    }
    if (order.user) { // else it could not open /dev/stdout and /dev/stderr
        static_cast<void>(::fchown(output.write_end, order.user->uid, order.user->gid));
        static_cast<void>(::fchown(errors.write_end, order.user->uid, order.user->gid));
    }
    std::optional<JobInit> init;
    if (order.isolation.processes) {
        const Result<JobInit> started = start_init();
        if (!started) return started.error();
        init = *started;
    }
    const pid_t pid = ::fork();
    if (pid == 0) become_job(plan);
    if (pid < 0) {
        const int error = errno;
        if (init) end_init(*init);
        return Error{Errc::kUnavailable, "cannot make a process: " + error_text(error)};
    }

    output.close_write_end();
    errors.close_write_end();
    report.close_write_end();
    const std::string problem = read_report(report.read_end);
    if (!problem.empty()) {
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        if (init) end_init(*init);
        return Error{Errc::kUnavailable, problem};
    }
    return JobProcess{pid, output.release_read_end(), errors.release_read_end(), init};
}

} // namespace fathom::agent
