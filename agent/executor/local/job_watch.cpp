#include "agent/executor/local/job_watch.hpp"

#include "agent/executor/local/disk_use.hpp"
#include "agent/executor/local/output_copier.hpp"
#include "agent/executor/local/process_tree.hpp"
#include "core/base/file.hpp"
#include "core/model/out_of_memory.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::seconds kGrace{5};      ///< from SIGTERM to SIGKILL
constexpr std::chrono::seconds kDrainLimit{2}; ///< for output still in the pipes at the end
constexpr int kRounds = 16;                    ///< blocks from one stream before looking at the other
constexpr int kShellKilled = 128 + SIGKILL;    ///< how a shell, or fathom-profile, says that its program was killed

double seconds(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Processor time of children that have ended, of all attempts of this process.
double children_cpu_s()
{
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int open_signals()
{
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGUSR1, SIGTERM, SIGINT})
        ::sigaddset(&signals, signal);
    return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// One job from its start to its end. Single-threaded.
class JobWatch {
  public:
    JobWatch(const SupervisorOrder& order, const AttemptFolder& folder, const JobProcess& job, const Cgroup& cgroup)
        : order_(order), folder_(folder), job_(job), cgroup_(cgroup), signals_(open_signals()),
          started_(std::chrono::steady_clock::now()), started_at_(SystemClock().now()),
          deadline_(started_ + std::chrono::seconds(order.run.order.wall_limit_s)),
          stdout_(job.stdout_fd, folder.output(OutputStream::kStdout), order.output_limit_bytes),
          stderr_(job.stderr_fd, folder.output(OutputStream::kStderr), order.output_limit_bytes),
          disk_({folder.work(), folder.tmp(), folder.var_tmp()})
    {
    }

    ~JobWatch()
    {
        if (signals_ >= 0) ::close(signals_);
    }
    JobWatch(const JobWatch&) = delete;
    JobWatch& operator=(const JobWatch&) = delete;

    AttemptEnd run()
    {
        static_cast<void>(write_file_unflushed(folder_.running(), encode_running(started_at_), 0600));
        look_for_cancel(); // it may have been asked for before the program ran
        while (!wait_status_)
            step();
        const SteadyTime ended = std::chrono::steady_clock::now();
        const bool out_of_memory = cgroup_.ran_out_of_memory();
        if (job_.init) note_memory(end_init(*job_.init).value_or(0));
        note_memory(kill_descendants());
        cgroup_.kill_all();
        drain();
        return make_end(ended, out_of_memory);
    }

  private:
    void step()
    {
        std::array<pollfd, 3> waiting{
            {{signals_, POLLIN, 0}, {stdout_.source(), POLLIN, 0}, {stderr_.source(), POLLIN, 0}}};
        const SteadyTime next = limits_disk() ? std::min(deadline_, disk_.next()) : deadline_;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
        const auto limit = std::clamp<std::int64_t>(left.count(), 0, 3'600'000);
        ::poll(waiting.data(), waiting.size(), static_cast<int>(limit));
        stdout_.copy(kRounds);
        stderr_.copy(kRounds);
        read_signals();
        if (!wait_status_ && std::chrono::steady_clock::now() >= deadline_) pass_deadline();
        if (!wait_status_ && limits_disk()) watch_disk();
    }

    bool limits_disk() const { return order_.disk_limit_bytes > 0 || order_.disk_limit_files > 0; }

    /// At once, without a grace time in which it could write on.
    void watch_disk()
    {
        disk_.go_on(std::chrono::steady_clock::now(), ::getpid());
        if (over_disk_limit_) return;
        if (order_.disk_limit_bytes > 0 && disk_.bytes() > order_.disk_limit_bytes)
            over_disk_limit_ = "its files took more of the disk than its share of " + disk_limit();
        else if (order_.disk_limit_files > 0 && disk_.files() > order_.disk_limit_files)
            over_disk_limit_ = "it made more files than its share of " + std::to_string(order_.disk_limit_files) +
                               " (disk_files_per_processor)";
        if (over_disk_limit_) ::kill(-job_.pid, SIGKILL);
    }

    void read_signals()
    {
        signalfd_siginfo info{};
        while (::read(signals_, &info, sizeof info) == sizeof info) {
            if (info.ssi_signo == SIGUSR1)
                look_for_cancel();
            else if (info.ssi_signo != SIGCHLD)
                ask_to_end(AttemptOutcome::kLost);
        }
        int status = 0;
        rusage use{};
        for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &use)) > 0;) {
            if (pid == job_.pid) wait_status_ = status;
            note_memory(use.ru_maxrss);
        }
    }

    void note_memory(std::int64_t most_kib) { most_resident_kib_ = std::max(most_resident_kib_, most_kib); }

    void look_for_cancel()
    {
        if (::access(folder_.cancel().c_str(), F_OK) == 0) ask_to_end(AttemptOutcome::kCancelled);
    }

    /// The first reason counts; from then on the job has its grace time.
    void ask_to_end(AttemptOutcome reason)
    {
        if (end_reason_) return;
        end_reason_ = reason;
        ::kill(-job_.pid, SIGTERM);
        ::kill(-job_.pid, SIGCONT); // a stopped process would not see it
        deadline_ = std::chrono::steady_clock::now() + kGrace;
    }

    void pass_deadline()
    {
        if (!end_reason_) {
            ask_to_end(AttemptOutcome::kWallLimit);
            return;
        }
        ::kill(-job_.pid, SIGKILL);
        deadline_ = std::chrono::steady_clock::now() + kGrace;
    }

    /// All writers are dead, so the pipes end; unless one got away, hence the limit.
    void drain()
    {
        const SteadyTime limit = std::chrono::steady_clock::now() + kDrainLimit;
        while ((stdout_.source() >= 0 || stderr_.source() >= 0) && std::chrono::steady_clock::now() < limit) {
            std::array<pollfd, 2> waiting{{{stdout_.source(), POLLIN, 0}, {stderr_.source(), POLLIN, 0}}};
            ::poll(waiting.data(), waiting.size(), 100);
            stdout_.copy(kRounds);
            stderr_.copy(kRounds);
        }
        stdout_.flush();
        stderr_.flush();
    }

    AttemptEnd make_end(SteadyTime ended, bool out_of_memory) const
    {
        AttemptEnd end;
        end.attempt_id = order_.run.order.attempt_id;
        end.started_at = started_at_;
        end.ended_at = SystemClock().now();
        end.run_s = std::chrono::duration<double>(ended - started_).count();
        set_outcome(end, out_of_memory);
        if (stdout_.disk_failed() || stderr_.disk_failed())
            end.detail += std::string(end.detail.empty() ? "" : "; ") + "some output could not be stored at the center";
        end.cpu_s = children_cpu_s() - cpu_before_s_;
        end.max_resident_bytes = most_resident_kib_ * 1024;
        end.stdout_bytes = stdout_.written_bytes();
        end.stderr_bytes = stderr_.written_bytes();
        return end;
    }

    void set_outcome(AttemptEnd& end, bool out_of_memory) const
    {
        const int status = wait_status_.value_or(0);
        if (WIFSIGNALED(status))
            end.signal = WTERMSIG(status);
        else
            end.exit_code = WEXITSTATUS(status);
        end.outcome = end_reason_.value_or(end.signal ? AttemptOutcome::kSignalled : AttemptOutcome::kExited);
        const bool is_killed = end.signal == SIGKILL || end.exit_code == kShellKilled;
        if (out_of_memory && is_killed && !end_reason_ && !over_disk_limit_) {
            end.outcome = AttemptOutcome::kOutOfMemory;
            end.signal = SIGKILL;
            end.exit_code.reset();
        }
        if (end_reason_ == AttemptOutcome::kWallLimit)
            end.detail = "the wall-time limit of " + std::to_string(order_.run.order.wall_limit_s) + " s was reached";
        else if (end_reason_ == AttemptOutcome::kLost)
            end.detail = "the center was shut down while it ran";
        else if (over_disk_limit_)
            end.detail = *over_disk_limit_;
        else if (end.signal == SIGXFSZ)
            end.detail = "a file would have become larger than its share of the disk, " + disk_limit();
        else if (out_of_memory)
            end.detail = out_of_memory_detail(memory_limit());
    }

    std::string memory_limit() const
    {
        const std::int64_t bytes = order_.run.memory_bytes;
        return bytes > 0 ? "the limit is " + std::to_string(bytes) + " bytes" : "that of the host came to its end";
    }

    std::string disk_limit() const
    {
        return std::to_string(order_.disk_limit_bytes) + " bytes (disk_bytes_per_processor)";
    }

    const SupervisorOrder& order_;
    const AttemptFolder& folder_;
    JobProcess job_;
    const Cgroup& cgroup_;
    double cpu_before_s_ = children_cpu_s(); ///< of earlier attempts of this process
    int signals_;
    SteadyTime started_;
    Timestamp started_at_;
    SteadyTime deadline_; ///< of the wall time, then of the grace time
    std::optional<AttemptOutcome> end_reason_;
    std::optional<int> wait_status_;
    OutputCopier stdout_;
    OutputCopier stderr_;
    DiskUse disk_;
    std::optional<std::string> over_disk_limit_; ///< which share of it the job was killed for, in words
    std::int64_t most_resident_kib_ = 0;
};

} // namespace

AttemptEnd watch_job(const SupervisorOrder& order, const AttemptFolder& folder, const JobProcess& job,
                     const Cgroup& cgroup)
{
    return JobWatch(order, folder, job, cgroup).run();
}

} // namespace fathom::agent
