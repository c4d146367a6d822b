#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/environment.hpp"
#include "agent/executor/local/job_init.hpp"
#include "agent/executor/local/system_call_filter.hpp"

namespace fathom::agent {

/// The script of a job that has one, in its working folder.
inline constexpr const char* kJobScriptName = "job-script";

/// A list of texts as exec() takes it.
class TextList {
  public:
    explicit TextList(std::vector<std::string> texts);
    TextList(const TextList&) = delete;
    TextList& operator=(const TextList&) = delete;

    char* const* get() { return pointers_.data(); }
    const std::string& first() const { return texts_.front(); }

  private:
    std::vector<std::string> texts_;
    std::vector<char*> pointers_;
};

/// Whose failure it is that a job cannot start: the first byte of what is said of it.
enum class StartFailure : char { kCenters = 'c', kPrograms = 'p' };

/// All that the process that becomes a job needs. Made before it: a process that shares its parent's memory must leave
/// nothing there.
struct JobStart {
    /// @param supervisor  the process that watches the job
    JobStart(const SupervisorOrder& job_order, const AttemptFolder& job_folder, int supervisor);

    const SupervisorOrder& order;
    const AttemptFolder& folder;
    const int parent;
    const JobPlace place;
    const JobView view;
    const std::vector<std::string> command; ///< as it is ordered
    const std::string search_path;
    const std::string profiler;
    const std::string stager; ///< empty: there is nothing to stage or to store
    TextList variables;
    TextList arguments;
    TextList profiled_arguments; ///< the same with fathom-profile

    std::vector<std::string> join_files; ///< of its control groups
    int stdout_fd{};
    int stderr_fd{};
    int report_fd{}; ///< a pipe, closed by exec(); a StartFailure and a sentence in it say why the job cannot start
    int pids_fd{};   ///< a pipe for JobPids
    std::optional<Lifeline> lifeline;
    const SystemCallFilter* filter{}; ///< null: none
    std::vector<int> open_files;      ///< that the program is started with, beside 0, 1 and 2
    const ChildStack* init_stack{};
    const ChildStack* job_stack{};
};

/// What the starter makes, both children of its parent.
struct JobPids {
    int init = -1;
    int job = -1;
};

/// The body of the starter, a process that joins the control groups and does as be_joined_starter().
/// @param start  a JobStart.
int be_starter(void* start);
/// The same for a process that has joined them already: it makes the job's PID namespace with its init and then the
/// job, tells both by JobStart::pids_fd, and ends when the job runs its program or has failed to. The job is a new
/// process in there with nobody but init, and no older than its start.
int be_joined_starter(void* start);

} // namespace fathom::agent
