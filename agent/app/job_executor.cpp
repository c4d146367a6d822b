#include "agent/app/job_executor.hpp"

#include "agent/config/cpu_list.hpp"
#include "core/base/log.hpp"

#include <unistd.h>

namespace fathom::agent {
namespace {

/// A job with the agent's user could read its key.
Result<void> keep_apart(const JobUsers& jobs, const std::optional<UnixUser>& agent)
{
    if (!agent) return {};
    const bool is_in_range = jobs.ids && jobs.ids->first <= agent->uid && agent->uid <= jobs.ids->last;
    if (is_in_range || (jobs.one && jobs.one->uid == agent->uid))
        return Error{Errc::kInvalid, "jobs would run as user " + agent->name +
                                         ", as the agent itself does: set run_as or run_as_uids to others"};
    return {};
}

/// What jobs are not kept from is said, or stands in the way.
Result<void> judge_isolation(const AgentConfig& config, const LocalExecutor& executor,
                             const std::string& user_ids_missing)
{
    std::string gaps = user_ids_missing;
    for (const std::string& gap : executor.isolation_gaps())
        gaps += (gaps.empty() ? "" : "; ") + gap;
    if (config.require_isolation && !gaps.empty())
        return Error{Errc::kUnavailable, "require_isolation is on, but at this center: " + gaps};
    if (!gaps.empty()) log_warning("jobs_not_isolated", {{"gaps", gaps}, {"see", "docs/security.md"}});
    if (executor.shows_agent_files() && ::getuid() != 0)
        log_warning("jobs_can_read_agent_files", {{"effect", "each job can act as this center"},
                                                  {"way_out", "start the agent as root, or allow user namespaces"}});
    return {};
}

/// What jobs may take of the state folder's disk for each of their processors.
std::int64_t disk_share(const AgentConfig& config)
{
    if (config.disk_bytes_per_processor) return *config.disk_bytes_per_processor;
    std::error_code error;
    const std::filesystem::space_info disk = std::filesystem::space(config.state_dir, error);
    const std::size_t processors = config.cpus.empty() ? allowed_cpus().size() : config.cpus.size();
    if (error || processors == 0) return 0;
    return static_cast<std::int64_t>(disk.capacity / 10 * 9 / processors);
}

} // namespace

Result<std::unique_ptr<LocalExecutor>> make_job_executor(const AgentConfig& config,
                                                         const std::optional<UnixUser>& agent)
{
    const Result<JobUsers> users = find_job_users(config.run_as, config.run_as_uids);
    if (!users) return users.error();
    if (Result<void> apart = keep_apart(*users, agent); !apart) return apart.error();
    if (::getuid() == 0 && !users->one && !users->ids)
        log_warning("jobs_run_as_root", {{"way_out", "set run_as to an ordinary user"}});

    // Without links: jobs must find the same place where much else is hidden from them.
    const std::filesystem::path state_dir = std::filesystem::weakly_canonical(config.state_dir);
    auto executor = std::make_unique<LocalExecutor>(
        LocalExecutorOptions{.attempts = state_dir / "attempts",
                             .supervisor = "/proc/self/exe", // this very program, also when its file was replaced
                             .programs = std::filesystem::absolute(config.probe_program).parent_path(),
                             .output_limit_bytes = config.output_limit_bytes,
                             .disk_bytes_per_processor = disk_share(config),
                             .user = users->one,
                             .user_ids = users->ids,
                             .hidden = ::getuid() == 0 ? "" : state_dir,
                             .shared = config.shared_folders,
                             .remove_work = config.keep_finished.count() == 0});
    if (Result<void> judged = judge_isolation(config, *executor, users->missing); !judged) return judged.error();
    return executor;
}

} // namespace fathom::agent
