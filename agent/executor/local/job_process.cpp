#include "agent/executor/local/job_process.hpp"

#include "agent/executor/local/job_child.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    /// Takes messages, and tells the sender's process.
    bool open_socket()
    {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
        read_end = ends[0];
        write_end = ends[1];
        const int on = 1;
        return ::setsockopt(read_end, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0;
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
        if (Result<void> done = write_job_file(order, work / kJobScriptName, order.run.order.script, 0700); !done)
            return done;
    }
    return give_to(order.user, work);
}

struct WaitingJob::Pipes {
    Pipe output;
    Pipe errors;
    Pipe report; ///< from the child: which process is the job, and why it cannot go on; sockets
    Pipe go;     ///< to the child: the folder of its attempt, then the end

    bool open() { return output.open() && errors.open() && report.open_socket() && go.open(); }
};

namespace {

void wait_for(pid_t pid)
{
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

struct Report {
    std::string problem; ///< empty: the program runs
    pid_t job = -1;      ///< the process that became the job, or tried to
};

/// Until exec() closes the other end. The kernel gives the sender's number as it is in our PID namespace. The job goes
/// on when `starter`, the process that has made it, is gone: it shall be alone in its namespace.
Report read_report(int fd, pid_t starter)
{
    Report report;
    for (;;) {
        std::array<char, 4096> text{};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
        iovec block{text.data(), text.size()};
        msghdr message{};
        message.msg_iov = &block;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t size = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return report;
        const std::string_view content(text.data(), static_cast<std::size_t>(size));
        if (content != kJobIsHere) {
            report.problem += content;
            continue;
        }
        ucred sender{};
        const cmsghdr* header = CMSG_FIRSTHDR(&message);
        if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS)
            std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
        report.job = sender.pid;
        wait_for(starter);
        static_cast<void>(::send(fd, kJobIsHere.data(), kJobIsHere.size(), MSG_NOSIGNAL));
    }
}

} // namespace

WaitingJob::WaitingJob(std::unique_ptr<Pipes> pipes, std::optional<JobInit> init, int pid)
    : pipes_(std::move(pipes)), init_(std::move(init)), pid_(pid)
{
}

WaitingJob::~WaitingJob()
{
    pipes_.reset(); // a child that is told no folder ends
    if (pid_ >= 0) wait_for(pid_);
    if (init_) end_init(*init_);
}

Result<std::unique_ptr<WaitingJob>> WaitingJob::prepare(const Isolation& isolation, const Cgroup& cgroup)
{
    std::optional<JobInit> init;
    if (isolation.processes) {
        const Result<JobInit> started = start_init();
        if (!started) return started.error();
        init = *started;
    }
    auto pipes = std::make_unique<Pipes>();
    const pid_t parent = ::getpid();
    const pid_t pid = pipes->open() ? ::fork() : -1;
    if (pid == 0) {
        pipes->go.close_write_end(); // or the end would never come
        wait_to_start_job({parent, pipes->output.write_end, pipes->errors.write_end, pipes->report.write_end,
                           pipes->go.read_end, cgroup.join_files()});
    }
    if (pid < 0) {
        const int error = errno;
        if (init) end_init(*init);
        return Error{Errc::kUnavailable, "cannot make a process or a pipe: " + error_text(error)};
    }
    pipes->report.close_write_end();
    return std::unique_ptr<WaitingJob>(new WaitingJob(std::move(pipes), init, pid));
}

Result<JobProcess> WaitingJob::start(const SupervisorOrder& order, const AttemptFolder& folder)
{
    if (order.user) { // else it could not open /dev/stdout and /dev/stderr
        static_cast<void>(::fchown(pipes_->output.write_end, order.user->uid, order.user->gid));
        static_cast<void>(::fchown(pipes_->errors.write_end, order.user->uid, order.user->gid));
    }
    const std::string& path = folder.path().native();
    const bool is_told = ::write(pipes_->go.write_end, path.data(), path.size()) == static_cast<ssize_t>(path.size());
    pipes_->go.close_write_end();
    pipes_->output.close_write_end();
    pipes_->errors.close_write_end();
    const Report report = read_report(pipes_->report.read_end, pid_);
    if (report.job > 0) pid_ = -1;
    if (report.problem.empty() && is_told && report.job > 0)
        return JobProcess{report.job, pipes_->output.release_read_end(), pipes_->errors.release_read_end(),
                          std::exchange(init_, std::nullopt)};
    if (report.job > 0) wait_for(report.job);
    return Error{Errc::kUnavailable,
                 report.problem.empty() ? "the process that was to become the job is gone" : report.problem};
}

} // namespace fathom::agent
